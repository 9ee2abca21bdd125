//===- LibraryKernel.cpp - Calls of the runtime's C kernels ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/LibraryKernel.h"

#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

int64_t scratchUnit(DType dtype) { return isComplex(dtype) ? 16 : 8; }

KernelScratch scratchFor(int64_t count, int64_t work, int64_t bytes) {
  constexpr int64_t kWorthIt = 50'000, kMost = 16, kMemory = 8 << 20;
  int64_t pieces = std::min(
      count, std::min<int64_t>(kMost, kMemory / std::max<int64_t>(bytes, 1)));
  // In floating point: the product can exceed 64 bits.
  double total = static_cast<double>(count) * static_cast<double>(work);
  if (total < static_cast<double>(kWorthIt * kMost))
    pieces = std::min(pieces, static_cast<int64_t>(total / kWorthIt));
  return {std::max<int64_t>(pieces, 1), bytes};
}

static TensorMeta rowMajorMeta(DType dtype, ArrayRef<int64_t> sizes) {
  return TensorMeta::contiguous(dtype, Dims(sizes.begin(), sizes.end()));
}

/// The metadata of a value whose memory is row-major in its physical order.
static TensorMeta metaInMemory(const LoweredTensor &t) {
  TensorMeta meta = rowMajorMeta(t.dtype, t.sizes());
  int64_t stride = 1;
  for (unsigned p = t.rank(); p-- > 0;) {
    meta.strides[t.order[p]] = Dim(stride);
    stride *= std::max<int64_t>(meta.sizes[t.order[p]].value(), 1);
  }
  return meta;
}

SmallVector<LoweredTensor> callKernel(LowerCall &c, StringRef name,
                                      ArrayRef<LoweredTensor> ins,
                                      ArrayRef<Arg> numbers,
                                      ArrayRef<KernelResult> outs,
                                      KernelScratch scratch) {
  SmallVector<LoweredTensor> results;
  if (llvm::all_of(outs, [](const KernelResult &r) {
        return llvm::is_contained(r.sizes, 0);
      })) {
    for (const KernelResult &r : outs)
      results.push_back(c.filled(r.sizes, r.dtype, 0));
    return results;
  }
  // What was emitted so far, and what follows, are kernels of their own.
  c.newGroup();
  OpBuilder &b = c.builder();
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<Attribute> typeAttrs, orders;
  SmallVector<Arg> args;
  auto describe = [&](const TensorMeta &meta, ArrayRef<unsigned> order) {
    SmallVector<int64_t> wide(order.begin(), order.end());
    typeAttrs.push_back(TypeAttr::get(typeFromMeta(c.context(), meta)));
    orders.push_back(b.getDenseI64ArrayAttr(wide));
  };
  for (auto [i, t] : llvm::enumerate(ins)) {
    operands.push_back(t.value);
    describe(metaInMemory(t), t.order);
    Arg arg;
    arg.kind = Arg::Tensor;
    arg.operand = static_cast<int>(i);
    args.push_back(arg);
  }
  args.append(numbers.begin(), numbers.end());
  SmallVector<KernelResult> all(outs);
  all.push_back({{scratch.pieces, scratch.bytes}, DType::U8});
  for (const KernelResult &r : all) {
    types.push_back(
        RankedTensorType::get(r.sizes, storageType(c.context(), r.dtype)));
    describe(rowMajorMeta(r.dtype, r.sizes), identityOrder(r.sizes.size()));
  }
  SmallVector<int64_t> written(ins.size(), -1);
  std::unique_ptr<bool[]> asIs(new bool[ins.size()]());
  auto call = KernelCallOp::create(
      b, c.loc(), types, b.getStringAttr(c.call().schema->base),
      b.getStringAttr("ft_k_" + name), b.getStrArrayAttr({}), operands,
      encodeArgs(c.context(), args), b.getArrayAttr(typeAttrs),
      b.getArrayAttr(orders), b.getDenseI64ArrayAttr(written),
      b.getDenseBoolArrayAttr(ArrayRef<bool>(asIs.get(), ins.size())),
      /*has_effects=*/false);
  for (auto [r, value] : llvm::zip(outs, call.getResults()))
    results.push_back({value, identityOrder(r.sizes.size()), r.dtype});
  c.newGroup();
  return results;
}

} // namespace ft
