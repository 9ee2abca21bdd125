//===- Custom.cpp - Lowering of custom operators ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A custom operator is a call of its C kernel: one `ft.kernel_call`, which is a
// kernel of its own. What is left to do is to bring its tensors into the layout
// that foretrace/kernel.h promises: the annotated strides where these are
// dense, row-major otherwise.
//
//   %x [3, 4] strides [1, 3]   physical [4, 3], order {1, 0}, row-major
//   %x [3, 4] strides [8, 1]   physical [3, 4], order {0, 1}, row-major

#include "compiler/custom/CustomArgs.h"
#include "compiler/fake/StrideRules.h"
#include "compiler/lower/KernelCalls.h"
#include "compiler/lower/LowerState.h"
#include "compiler/lower/Rules.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

/// The order of dims in memory, outermost first. Dims of one element stand
/// where they stood.
static SmallVector<unsigned, 6> memoryOrder(const TensorMeta &meta,
                                            bool contiguous) {
  SmallVector<unsigned, 6> order, longer;
  for (unsigned d = 0; d < meta.sizes.size(); ++d) {
    order.push_back(d);
    if (!meta.sizes[d].is(1))
      longer.push_back(d);
  }
  if (contiguous || !isDense(meta.sizes, meta.strides))
    return order;
  // Their strides differ unless the tensor is empty.
  llvm::sort(longer, [&](unsigned a, unsigned b) {
    int64_t x = meta.strides[a].value(), y = meta.strides[b].value();
    return x != y ? x > y : a < b;
  });
  auto *next = longer.begin();
  for (unsigned &d : order)
    if (!meta.sizes[d].is(1))
      d = *next++;
  return order;
}

/// An input of the model, seen in the strides that it has anyway.
static bool isInputAsItIs(const LoweredTensor &t, const TensorMeta &meta,
                          bool contiguous) {
  auto argument = dyn_cast<BlockArgument>(t.value);
  if (!argument)
    return false;
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned n = argument.getArgNumber();
  auto kind = function ? function.getArgAttrOfType<StringAttr>(n, names::kKind)
                       : StringAttr();
  auto type = function ? function.getArgAttrOfType<TypeAttr>(n, names::kMeta)
                       : TypeAttr();
  std::optional<TensorMeta> given =
      type ? metaFromType(type.getValue()) : std::nullopt;
  if (!kind || kind.getValue() != "input" || !given ||
      given->rank() != meta.rank() || (contiguous && !isContiguous(meta)) ||
      !isDense(meta.sizes, meta.strides))
    return false;
  for (auto [p, logical] : llvm::enumerate(t.order))
    if (!meta.sizes[logical].is(1) &&
        given->strides[p] != meta.strides[logical])
      return false;
  return true;
}

static RankedTensorType physicalType(MLIRContext *context,
                                     const TensorMeta &meta,
                                     ArrayRef<unsigned> order) {
  SmallVector<int64_t> shape;
  for (unsigned logical : order)
    shape.push_back(meta.sizes[logical].value());
  return RankedTensorType::get(shape, storageType(context, meta.dtype));
}

namespace {
/// The pieces of one ft.kernel_call.
struct KernelCallBuilder {
  LowerCall &c;
  const CustomOp &op; // with the kernel
  SmallVector<Value> operands;
  SmallVector<Type> results;
  SmallVector<SmallVector<unsigned, 6>> resultOrders;
  SmallVector<Attribute> types, orders;
  SmallVector<int64_t> written;
  SmallVector<bool> asIs;

  Attribute orderAttr(ArrayRef<unsigned> order) {
    SmallVector<int64_t> wide(order.begin(), order.end());
    return c.builder().getDenseI64ArrayAttr(wide);
  }
  Attribute typeAttr(const TensorMeta &meta) {
    return TypeAttr::get(typeFromMeta(c.context(), meta));
  }

  void addOperand(Value value, const TensorMeta &meta, int result) {
    LoweredTensor t = c.operandOf(value);
    bool contiguous = op.kernel.contiguous;
    // A written argument stands in the memory of its new value.
    TensorMeta seen = result >= 0 ? c.resultMeta(result) : meta;
    bool asItIs = isInputAsItIs(t, seen, contiguous);
    if (!asItIs)
      t = c.toOrder(t, memoryOrder(seen, contiguous));
    operands.push_back(t.value);
    types.push_back(typeAttr(seen));
    orders.push_back(orderAttr(t.order));
    written.push_back(result);
    asIs.push_back(asItIs);
  }

  LogicalResult addResults() {
    for (unsigned r = 0; r < c.numResults(); ++r) {
      const TensorMeta &meta = c.resultMeta(r);
      if (!isDense(meta.sizes, meta.strides))
        return c.unsupported("its fake rule gives result " + Twine(r) +
                             " strides with gaps or overlaps: " + meta.str());
      auto order = memoryOrder(meta, op.kernel.contiguous);
      results.push_back(physicalType(c.context(), meta, order));
      types.push_back(typeAttr(meta));
      orders.push_back(orderAttr(order));
      resultOrders.push_back(order);
    }
    return success();
  }

  KernelCallOp build() {
    OpBuilder &b = c.builder();
    SmallVector<Arg, 8> args;
    for (auto [arg, formal] : llvm::zip(c.call().args, op.schema.args))
      args.push_back(asDeclared(arg, formal.type));
    auto call = KernelCallOp::create(
        b, c.loc(), results, b.getStringAttr(op.name),
        b.getStringAttr(op.kernel.symbol),
        b.getStrArrayAttr(SmallVector<StringRef>(op.kernel.files.begin(),
                                                 op.kernel.files.end())),
        operands, encodeArgs(c.context(), args), b.getArrayAttr(types),
        b.getArrayAttr(orders), b.getDenseI64ArrayAttr(written),
        b.getDenseBoolArrayAttr(asIs), op.hasEffects);
    for (auto [r, value] : llvm::enumerate(call.getResults()))
      c.setResult(static_cast<unsigned>(r),
                  {value, resultOrders[r], c.resultMeta(r).dtype});
    return call;
  }
};
} // namespace

/// For each operand of a functional form the result with its new value; -1.
static SmallVector<int> writtenResults(const AtenCall &call,
                                       const CustomOp &op) {
  SmallVector<int> result(call.operands.size(), -1);
  if (!customOp(*call.schema)->original)
    return result;
  int next = 0;
  for (auto [i, formal] : llvm::enumerate(op.schema.args)) {
    if (!formal.type.write)
      continue;
    if (call.args[i].kind == Arg::Tensor)
      result[call.args[i].operand] = next;
    ++next;
  }
  return result;
}

static bool hasComplex(const Arg &arg) {
  return arg.kind == Arg::Complex || llvm::any_of(arg.list, hasComplex);
}

LogicalResult lowerCustom(LowerCall &c) {
  const AtenCall &call = c.call();
  const CustomOp *op = customOp(*call.schema);
  if (op->original)
    op = op->original;
  for (const SchemaType &type : call.schema->returns)
    if (type.alias)
      return c.unsupported("a kernel cannot return a view");
  for (auto [arg, formal] : llvm::zip(call.args, op->schema.args)) {
    if (hasComplex(arg))
      return c.unsupported("argument '" + formal.name +
                           "' is a complex number, which no kernel takes");
    if (formal.type.write && arg.kind != Arg::Tensor)
      return c.unsupported("argument '" + formal.name +
                           "', which it writes, is absent");
  }
  SmallVector<int> written = writtenResults(call, *op);
  KernelCallBuilder builder{c, *op, {}, {}, {}, {}, {}, {}, {}};
  for (auto [i, operand] : llvm::enumerate(call.operands)) {
    builder.addOperand(operand, *metaOf(operand), written[i]);
  }
  if (failed(builder.addResults()))
    return failure();
  std::string limit = kernelCallLimit(builder.build());
  return limit.empty() ? success() : c.unsupported(limit);
}

} // namespace ft
