//===- LowerViews.cpp - Views and layout changes of lowered tensors *- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A permutation costs nothing: it only changes `order`, and whoever reads the
// tensor composes its index with it. A slice is a strided window. A reshape is
// free on row-major memory; dims of size 1 never make memory other than
// row-major, wherever they stand physically.

#include "compiler/lower/LowerCall.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace ft {

/// Reinterprets row-major memory under another shape of as many elements.
static Value reshapeMemory(OpBuilder &b, Location loc, Value value,
                           ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  auto to = RankedTensorType::get(shape, type.getElementType());
  if (llvm::is_contained(shape, 0))
    return tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  std::optional<SmallVector<ReassociationIndices>> groups =
      getReassociationIndicesForReshape(type, to);
  if (groups && type.getRank() > to.getRank())
    return tensor::CollapseShapeOp::create(b, loc, to, value, *groups);
  if (groups && type.getRank() < to.getRank())
    return tensor::ExpandShapeOp::create(b, loc, to, value, *groups);
  // Neither a refinement nor a coarsening: through one dim.
  auto all = [](size_t rank) {
    ReassociationIndices indices;
    for (size_t i = 0; i < rank; ++i)
      indices.push_back(static_cast<int64_t>(i));
    return rank ? SmallVector<ReassociationIndices>{indices}
                : SmallVector<ReassociationIndices>{};
  };
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  Value one = value;
  if (type.getRank() == 0)
    one = tensor::ExpandShapeOp::create(b, loc, flat, value, all(0));
  else if (type != flat)
    one = tensor::CollapseShapeOp::create(b, loc, flat, value,
                                          all(type.getRank()));
  if (shape.empty())
    return tensor::CollapseShapeOp::create(b, loc, to, one,
                                           SmallVector<ReassociationIndices>{});
  if (to == flat)
    return one;
  return tensor::ExpandShapeOp::create(b, loc, to, one, all(shape.size()));
}

LoweredTensor LowerCall::toOrder(LoweredTensor t, ArrayRef<unsigned> order) {
  if (ArrayRef<unsigned>(t.order) == order)
    return t;
  SmallVector<int64_t, 6> sizes = t.sizes();
  // Only dims of size 1 differ: the same memory under another shape.
  auto significant = [&](ArrayRef<unsigned> o) {
    SmallVector<unsigned, 6> dims;
    for (unsigned d : o)
      if (sizes[d] != 1)
        dims.push_back(d);
    return dims;
  };
  SmallVector<int64_t> physical;
  for (unsigned d : order)
    physical.push_back(sizes[d]);
  LoweredTensor result = t;
  result.order.assign(order.begin(), order.end());
  if (significant(t.order) == significant(order)) {
    result.value = reshapeMemory(b, location, t.value, physical);
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

LoweredTensor LowerCall::reshape(LoweredTensor t, ArrayRef<int64_t> sizes) {
  if (ArrayRef<int64_t>(t.sizes()) == sizes)
    return t;
  LoweredTensor result = toRowMajor(t);
  result.value = reshapeMemory(b, location, result.value, sizes);
  result.order = identityOrder(sizes.size());
  return result;
}

LoweredTensor LowerCall::permute(LoweredTensor t, ArrayRef<unsigned> dims) {
  SmallVector<unsigned, 6> newPosition(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    newPosition[dims[i]] = static_cast<unsigned>(i);
  for (unsigned &d : t.order)
    d = newPosition[d];
  return t;
}

LoweredTensor LowerCall::slice(LoweredTensor t, unsigned sliced, int64_t start,
                               int64_t size, int64_t step) {
  SmallVector<int64_t, 6> sizes = t.sizes();
  if (start == 0 && step == 1 && size == sizes[sliced])
    return t;
  SmallVector<OpFoldResult> offsets, extents, strides;
  for (unsigned logical : t.order) {
    bool here = logical == sliced;
    offsets.push_back(b.getIndexAttr(here ? start : 0));
    extents.push_back(b.getIndexAttr(here ? size : sizes[logical]));
    strides.push_back(b.getIndexAttr(here ? step : 1));
  }
  // An empty window of an empty or exhausted dim has no valid offset.
  if (size == 0 || llvm::is_contained(sizes, 0)) {
    sizes[sliced] = size;
    return empty(sizes, t.dtype, t.order);
  }
  t.value = tensor::ExtractSliceOp::create(b, location, t.value, offsets,
                                           extents, strides);
  return t;
}

LoweredTensor LowerCall::expand(LoweredTensor t, ArrayRef<int64_t> sizes) {
  if (ArrayRef<int64_t>(t.sizes()) == sizes)
    return t;
  return pointwise(t, sizes, t.dtype,
                   [](ScalarBuilder &, ValueRange v) { return v[0]; });
}

LoweredTensor LowerCall::pad(LoweredTensor t, ArrayRef<int64_t> low,
                             ArrayRef<int64_t> high, double value) {
  auto isZero = [](int64_t v) { return v == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return t;
  SmallVector<OpFoldResult> before, after;
  SmallVector<int64_t> shape;
  SmallVector<int64_t, 6> sizes = t.sizes();
  for (unsigned logical : t.order) {
    before.push_back(b.getIndexAttr(low[logical]));
    after.push_back(b.getIndexAttr(high[logical]));
    shape.push_back(low[logical] + sizes[logical] + high[logical]);
  }
  auto type = RankedTensorType::get(
      shape, cast<RankedTensorType>(t.value.getType()).getElementType());
  ScalarBuilder s(b, location);
  Value fill = s.constant(type.getElementType(), value);
  t.value =
      tensor::PadOp::create(b, location, type, t.value, before, after, fill);
  return t;
}

} // namespace ft
