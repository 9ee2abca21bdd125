//===- LowerViews.cpp - Views and layout changes of lowered tensors *- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A permutation costs nothing: it only changes `order`, and whoever reads the
// tensor composes its index with it. A slice is a strided window. A reshape is
// free on row-major memory; dims of size 1 never make memory other than
// row-major, wherever they stand physically.

#include "compiler/lower/LowerCall.h"
#include "compiler/lower/LowerState.h"
#include "compiler/shape/Broadcast.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace ft {

/// A collapse of `from` to `to` if each dim of `to` is a product of neighbours;
/// dims of size 1 go with the dim before them.
static std::optional<SmallVector<ReassociationIndices>>
collapseGroups(ArrayRef<Dim> from, ArrayRef<Dim> to) {
  SmallVector<ReassociationIndices> groups;
  size_t at = 0;
  for (size_t g = 0; g < to.size(); ++g) {
    ReassociationIndices group;
    Dim size = 1;
    while (at < from.size() && (group.empty() || size != to[g])) {
      size = size * from[at];
      group.push_back(static_cast<int64_t>(at++));
    }
    if (group.empty() || size != to[g])
      return std::nullopt;
    // What is left over may be units only.
    while (at < from.size() && from[at].is(1) &&
           (g + 1 == to.size() || !to[g + 1].is(1)))
      group.push_back(static_cast<int64_t>(at++));
    groups.push_back(std::move(group));
  }
  return at == from.size() ? std::optional(groups) : std::nullopt;
}

namespace {
/// Reinterprets row-major memory under another shape of as many elements.
struct MemoryReshape {
  LowerCall &c;
  Type element;

  RankedTensorType type(ArrayRef<Dim> sizes) {
    SmallVector<int64_t> shape;
    for (Dim d : sizes)
      shape.push_back(d.isStatic() ? d.value() : ShapedType::kDynamic);
    return RankedTensorType::get(shape, element);
  }
  SmallVector<OpFoldResult> operands(ArrayRef<Dim> sizes) {
    SmallVector<OpFoldResult> values;
    for (Dim d : sizes)
      values.push_back(d.isStatic()
                           ? OpFoldResult(c.builder().getIndexAttr(d.value()))
                           : OpFoldResult(c.sizeValue(d)));
    return values;
  }
  Value collapse(Value v, ArrayRef<Dim> to,
                 ArrayRef<ReassociationIndices> groups) {
    return tensor::CollapseShapeOp::create(c.builder(), c.loc(), type(to), v,
                                           groups);
  }
  Value expand(Value v, ArrayRef<Dim> to,
               ArrayRef<ReassociationIndices> groups) {
    return tensor::ExpandShapeOp::create(c.builder(), c.loc(), type(to), v,
                                         groups, operands(to));
  }

  Value reshape(Value v, ArrayRef<Dim> from, ArrayRef<Dim> to) {
    if (from == to)
      return v;
    if (hasNoElements(to))
      return tensor::EmptyOp::create(c.builder(), c.loc(), operands(to),
                                     element);
    if (from.size() > to.size())
      if (auto groups = collapseGroups(from, to))
        return collapse(v, to, *groups);
    if (from.size() < to.size())
      if (auto groups = collapseGroups(to, from))
        return expand(v, to, *groups);
    // Neither a refinement nor a coarsening: through one dim.
    auto all = [](size_t rank) {
      ReassociationIndices indices;
      for (size_t i = 0; i < rank; ++i)
        indices.push_back(static_cast<int64_t>(i));
      return rank ? SmallVector<ReassociationIndices>{indices}
                  : SmallVector<ReassociationIndices>{};
    };
    // Both products are the same number; it is written as it was.
    Dim flat = product(from);
    Value one = v;
    if (from.empty())
      one = expand(v, flat, all(0));
    else if (from.size() > 1)
      one = collapse(v, flat, all(from.size()));
    // A guard may have made one of them a number.
    RankedTensorType line = type(product(to));
    if (one.getType() != line)
      one = tensor::CastOp::create(c.builder(), c.loc(), line, one);
    if (to.empty())
      return collapse(one, to, {});
    if (to.size() == 1)
      return one;
    return expand(one, to, all(to.size()));
  }
};
} // namespace

static Value reshapeMemory(LowerCall &c, Value value, ArrayRef<Dim> from,
                           ArrayRef<Dim> to) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return MemoryReshape{c, element}.reshape(value, from, to);
}

LoweredTensor LowerCall::toOrder(LoweredTensor t, ArrayRef<unsigned> order) {
  if (ArrayRef<unsigned>(t.order) == order)
    return t;
  Dims sizes = t.dims();
  // Only dims of size 1 differ: the same memory under another shape.
  auto significant = [&](ArrayRef<unsigned> o) {
    SmallVector<unsigned, 6> dims;
    for (unsigned d : o)
      if (!sizes[d].is(1))
        dims.push_back(d);
    return dims;
  };
  LoweredTensor result = t;
  result.order.assign(order.begin(), order.end());
  if (significant(t.order) == significant(order)) {
    Dims from, to;
    for (unsigned d : t.order)
      from.push_back(sizes[d]);
    for (unsigned d : order)
      to.push_back(sizes[d]);
    result.value = reshapeMemory(*this, t.value, from, to);
    return result;
  }
  size_t rank = sizes.size();
  SmallVector<AffineExpr, 6> logical(rank);
  for (size_t p = 0; p < rank; ++p)
    logical[order[p]] = dim(static_cast<unsigned>(p));
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  return generic(Access{t, logical},
                 Access{empty(sizes, t.dtype, order), logical}, iterators,
                 [](ScalarBuilder &, ValueRange v) {
                   return SmallVector<Value>{v[0]};
                 })[0];
}

LoweredTensor LowerCall::toRowMajor(LoweredTensor t) {
  return toOrder(t, identityOrder(t.rank()));
}

LoweredTensor LowerCall::reshape(LoweredTensor t, const SizeList &sizes) {
  ArrayRef<Dim> to = sizes;
  if (ArrayRef<Dim>(t.dims()) == to)
    return t;
  LoweredTensor result = toRowMajor(t);
  result.value = reshapeMemory(*this, result.value, result.dims(), to);
  result.order = identityOrder(to.size());
  bool isStatic = llvm::all_of(to, [](Dim d) { return d.isStatic(); });
  result.symbolic = isStatic ? Dims() : Dims(to.begin(), to.end());
  return result;
}

LoweredTensor LowerCall::permute(LoweredTensor t, ArrayRef<unsigned> dims) {
  SmallVector<unsigned, 6> newPosition(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    newPosition[dims[i]] = static_cast<unsigned>(i);
  for (unsigned &d : t.order)
    d = newPosition[d];
  Dims before = t.symbolic;
  for (size_t i = 0; i < before.size(); ++i)
    t.symbolic[i] = before[dims[i]];
  return t;
}

LoweredTensor LowerCall::slice(LoweredTensor t, unsigned sliced, Dim start,
                               Dim size, Dim step) {
  Dims sizes = t.dims();
  if (start.is(0) && step.is(1) && size == sizes[sliced])
    return t;
  // An empty window of an empty or exhausted dim has no valid offset.
  bool none = size.is(0) || hasNoElements(sizes);
  sizes[sliced] = size;
  if (none)
    return empty(sizes, t.dtype, t.order);
  SmallVector<OpFoldResult> offsets, extents, strides;
  for (unsigned logical : t.order) {
    bool here = logical == sliced;
    offsets.push_back(state.sizeOperand(here ? start : Dim(0)));
    extents.push_back(state.sizeOperand(sizes[logical]));
    strides.push_back(state.sizeOperand(here ? step : Dim(1)));
  }
  t.value = tensor::ExtractSliceOp::create(b, location, t.value, offsets,
                                           extents, strides);
  bool isStatic = llvm::all_of(sizes, [](Dim d) { return d.isStatic(); });
  t.symbolic = isStatic ? Dims() : sizes;
  return t;
}

LoweredTensor LowerCall::expand(LoweredTensor t, const SizeList &sizes) {
  Dims own = t.dims();
  size_t lead = sizes.size() - own.size();
  for (size_t d = 0; d < own.size(); ++d)
    if (Dim to = sizes[lead + d]; !own[d].is(1) && !surelySame(own[d], to))
      t = slice(t, static_cast<unsigned>(d), 0, to,
                broadcastStep(own[d], surelyPositive(own[d])));
  if (ArrayRef<Dim>(t.dims()) == ArrayRef<Dim>(sizes))
    return t;
  return pointwise(t, sizes, t.dtype,
                   [](ScalarBuilder &, ValueRange v) { return v[0]; });
}

LoweredTensor LowerCall::pad(LoweredTensor t, const SizeList &low,
                             const SizeList &high, double value) {
  auto isZero = [](Dim v) { return v.is(0); };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return t;
  SmallVector<OpFoldResult> before, after;
  SmallVector<int64_t> shape;
  Dims sizes = t.dims();
  for (size_t d = 0; d < sizes.size(); ++d)
    sizes[d] = low[d] + sizes[d] + high[d];
  for (unsigned logical : t.order) {
    before.push_back(state.sizeOperand(low[logical]));
    after.push_back(state.sizeOperand(high[logical]));
    Dim d = sizes[logical];
    shape.push_back(d.isStatic() ? d.value() : ShapedType::kDynamic);
  }
  auto type = RankedTensorType::get(
      shape, cast<RankedTensorType>(t.value.getType()).getElementType());
  ScalarBuilder s(b, location);
  Value fill = s.constant(type.getElementType(), value);
  t.value =
      tensor::PadOp::create(b, location, type, t.value, before, after, fill);
  bool isStatic = llvm::all_of(sizes, [](Dim d) { return d.isStatic(); });
  t.symbolic = isStatic ? Dims() : sizes;
  return t;
}

} // namespace ft
