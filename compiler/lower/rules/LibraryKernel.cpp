//===- LibraryKernel.cpp - Calls of the runtime's C kernels ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/LibraryKernel.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/KernelCalls.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/TensorSizes.h"

using namespace mlir;

namespace ft {

int64_t scratchUnit(DType dtype) { return isComplex(dtype) ? 16 : 8; }

KernelScratch scratchFor(Dim size, Dim work, Dim bytes) {
  constexpr int64_t kWorthIt = 50'000, kMost = 16, kMemory = 8 << 20;
  constexpr int64_t kMany = int64_t(1) << 20;
  int64_t count = size.isStatic() ? size.value() : kMany;
  if (count <= 1)
    return {1, bytes};
  Dim fit = floorDiv(Dim(kMemory), maxDim(bytes, 1));
  Dim most = minDim(fit, std::min(kMost, count));
  if (size.isStatic() || work.isStatic()) {
    // In floating point: the product can exceed 64 bits.
    double total = static_cast<double>(count) *
                   static_cast<double>(work.isStatic() ? work.value() : kMany);
    if (total < static_cast<double>(kWorthIt * kMost))
      most = minDim(most, static_cast<int64_t>(total / kWorthIt));
  }
  return {maxDim(most, 1), bytes};
}

static TensorMeta rowMajorMeta(DType dtype, ArrayRef<Dim> sizes) {
  return TensorMeta::contiguous(dtype, Dims(sizes.begin(), sizes.end()));
}

/// The metadata of a value whose memory is row-major in its physical order.
static TensorMeta metaInMemory(const LoweredTensor &t) {
  TensorMeta meta = rowMajorMeta(t.dtype, t.dims());
  Dim stride = 1;
  for (unsigned p = t.rank(); p-- > 0;) {
    meta.strides[t.order[p]] = stride;
    if (!meta.sizes[t.order[p]].is(0))
      stride = stride * meta.sizes[t.order[p]];
  }
  return meta;
}

bool isForGpu(LowerCall &c) {
  return c.numResults() && c.resultMeta(0).device.kind == Device::Cuda;
}

KernelResult kernelResult(LowerCall &c, unsigned r) {
  const TensorMeta &meta = c.resultMeta(r);
  if (!c.isDefined(meta))
    return {{}, meta.dtype, &meta};
  return {dimsOf(meta), meta.dtype};
}

/// The dims of an annotation in the order of memory, outermost first: each has
/// the elements of those behind it as its stride. Row-major if there is no such
/// order.
static SmallVector<unsigned, 6> orderInMemory(const TensorMeta &meta) {
  auto rank = static_cast<unsigned>(meta.rank());
  SmallVector<unsigned, 6> order;
  SmallVector<bool> used(rank, false);
  Dim stride = 1;
  for (unsigned p = 0; p < rank; ++p) {
    // The last dim that fits, so that dims of one element stay where they are.
    int next = -1;
    for (unsigned d = 0; d < rank; ++d)
      if (!used[d] && meta.strides[d] == stride)
        next = static_cast<int>(d);
    if (next < 0)
      return identityOrder(rank);
    used[next] = true;
    order.push_back(static_cast<unsigned>(next));
    stride = stride * meta.sizes[next];
  }
  std::reverse(order.begin(), order.end());
  return order;
}

SmallVector<LoweredTensor> callKernel(LowerCall &c, StringRef name,
                                      ArrayRef<LoweredTensor> ins,
                                      ArrayRef<Arg> numbers,
                                      ArrayRef<KernelResult> outs,
                                      KernelScratch scratch) {
  SmallVector<LoweredTensor> results;
  if (llvm::all_of(outs, [](const KernelResult &r) {
        return !r.found && hasNoElements(r.sizes);
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
  // Memory of a found result is one output's: equal calls stay two.
  int64_t foundDims = 0;
  for (const KernelResult &r : outs)
    foundDims += r.found ? r.found->rank() : 0;
  std::vector<KernelResult> all(outs.begin(), outs.end());
  if (foundDims)
    all.insert(all.begin(), {{foundDims}, DType::I64});
  all.push_back({{scratch.pieces, scratch.bytes}, DType::U8});
  SmallVector<int64_t> foundResults;
  for (auto [i, r] : llvm::enumerate(all))
    if (r.found)
      foundResults.push_back(static_cast<int64_t>(i));
  for (const KernelResult &r : all) {
    if (r.found) {
      SmallVector<int64_t> sizes;
      SmallVector<unsigned, 6> order = orderInMemory(*r.found);
      for (unsigned logical : order) {
        Dim d = r.found->sizes[logical];
        sizes.push_back(d.isStatic() ? d.value() : ShapedType::kDynamic);
      }
      types.push_back(
          RankedTensorType::get(sizes, storageType(c.context(), r.dtype)));
      describe(*r.found, order);
      continue;
    }
    SmallVector<int64_t> shape;
    for (Dim d : r.sizes)
      shape.push_back(d.isStatic() ? d.value() : ShapedType::kDynamic);
    types.push_back(
        RankedTensorType::get(shape, storageType(c.context(), r.dtype)));
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
      /*has_effects=*/foundDims > 0);
  if (foundDims)
    call->setAttr(kTellsSizes, b.getDenseI64ArrayAttr(foundResults));
  for (auto [r, value] :
       llvm::zip(outs, call.getResults().drop_front(foundDims > 0))) {
    auto rank = cast<RankedTensorType>(value.getType()).getRank();
    results.push_back({value,
                       r.found ? orderInMemory(*r.found) : identityOrder(rank),
                       r.dtype});
    results.back().setDims(r.found ? ArrayRef<Dim>(r.found->sizes)
                                   : ArrayRef<Dim>(r.sizes));
  }
  c.newGroup();
  return results;
}

static ArrayRef<int64_t> findResults(KernelCallOp call) {
  auto found = call->getAttrOfType<DenseI64ArrayAttr>(kTellsSizes);
  return found ? found.asArrayRef() : ArrayRef<int64_t>();
}

std::optional<LoweredTensor> foundSize(LowerCall &c, const LoweredTensor &t,
                                       unsigned dim) {
  auto call = t.value.getDefiningOp<KernelCallOp>();
  if (!call || !call->hasAttr(kTellsSizes))
    return std::nullopt;
  int64_t at = dim;
  for (int64_t r : findResults(call)) {
    Value other = call.getResult(static_cast<unsigned>(r));
    if (other == t.value)
      break;
    at += cast<RankedTensorType>(other.getType()).getRank();
  }
  LoweredTensor sizes = {call.getResult(0), identityOrder(1), DType::I64};
  return c.reshape(c.slice(sizes, 0, at, 1), {});
}

} // namespace ft
