//===- Assemble.cpp - Tensors put together from pieces --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Assemble.h"

#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ft {

LoweredTensor concatenate(LowerCall &c, ArrayRef<LoweredTensor> pieces,
                          unsigned dim) {
  if (pieces.size() == 1)
    return pieces.front();
  LoweredTensor result = pieces.front();
  SmallVector<Value> values;
  for (const LoweredTensor &piece : pieces)
    values.push_back(c.toOrder(piece, result.order).value);
  auto physical = static_cast<int64_t>(llvm::find(result.order, dim) -
                                       result.order.begin());
  Dims sizes = result.dims();
  for (const LoweredTensor &piece : pieces.drop_front())
    sizes[dim] = sizes[dim] + piece.dims()[dim];
  // Some of the pieces may be of the run where the first is not.
  Dims all = sizes;
  for (size_t d = 0; d < all.size(); ++d)
    for (const LoweredTensor &piece : pieces)
      if (d != dim && piece.dims()[d].isStatic())
        all[d] = piece.dims()[d];
  // What the pieces are together may be known of none of them: x[:n], x[n:].
  SmallVector<int64_t> shape;
  for (unsigned logical : result.order)
    shape.push_back(all[logical].isStatic() ? all[logical].value()
                                            : ShapedType::kDynamic);
  auto element = cast<RankedTensorType>(values[0].getType()).getElementType();
  result.value = tensor::ConcatOp::create(c.builder(), c.loc(),
                                          RankedTensorType::get(shape, element),
                                          physical, values);
  result.setDims(all);
  return result;
}

LoweredTensor insert(LowerCall &c, LoweredTensor whole, LoweredTensor piece,
                     const SizeList &start, ArrayRef<int64_t> step) {
  Dims sizes = piece.dims();
  if (hasNoElements(sizes))
    return whole;
  piece = c.toOrder(piece, whole.order);
  SmallVector<OpFoldResult> offsets, extents, strides;
  Builder &b = c.builder();
  for (unsigned logical : whole.order) {
    offsets.push_back(c.sizeOperand(start[logical]));
    extents.push_back(c.sizeOperand(sizes[logical]));
    strides.push_back(b.getIndexAttr(step[logical]));
  }
  whole.value =
      tensor::InsertSliceOp::create(c.builder(), c.loc(), piece.value,
                                    whole.value, offsets, extents, strides);
  return whole;
}

LoweredTensor gatherAffine(LowerCall &c, const LoweredTensor &t,
                           ArrayRef<AffineExpr> index, const SizeList &sizes) {
  if (hasNoElements(sizes))
    return c.empty(sizes, t.dtype);
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<AffineExpr, 6> out;
  for (unsigned d = 0; d < rank; ++d)
    out.push_back(c.dim(d));
  // A dim that is read as it is must be as long as the loop over it.
  LoweredTensor window = t;
  for (auto [d, e] : llvm::enumerate(index))
    if (auto plain = dyn_cast<AffineDimExpr>(e))
      window = c.slice(window, static_cast<unsigned>(d), 0,
                       sizes[plain.getPosition()]);
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  return c.generic(Access{window, SmallVector<AffineExpr, 6>(index)},
                   Access{c.empty(sizes, t.dtype), out}, iterators,
                   [](ScalarBuilder &, ValueRange v) {
                     return SmallVector<Value>{v[0]};
                   })[0];
}

} // namespace ft
