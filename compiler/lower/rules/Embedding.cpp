//===- Embedding.cpp - Lowering of embeddings -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Updates.h"
#include "dialects/ft/TensorSizes.h"

using namespace mlir;

namespace ft {

/// Row weight[index] for every index.
static LogicalResult embedding(LowerCall &c) {
  LoweredTensor weight = c.operand(0), indices = c.operand(1);
  Dims sizes = dimsOf(c.resultMeta(0));
  Dim rows = weight.dims()[0];
  if (hasNoElements(sizes)) {
    c.setResult(0, c.empty(sizes, weight.dtype));
    return success();
  }
  c.checkIndex(indices, 0, rows, rows);
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<AffineExpr, 6> out;
  for (unsigned d = 0; d < rank; ++d)
    out.push_back(c.dim(d));
  SmallVector<AffineExpr, 6> read(out.begin(), out.end() - 1);
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  c.setResult(0, c.generic(Access{indices, read},
                           Access{c.empty(sizes, weight.dtype), out}, iterators,
                           [&](ScalarBuilder &s, ValueRange v) {
                             Value row = toIndex(s, v[0], indices.dtype);
                             Value column = iterationIndex(s, rank - 1);
                             return SmallVector<Value>{
                                 readAt(s, weight, {row, column})};
                           })[0]);
  return success();
}

/// Row w of the gradient sums the rows that looked w up, each divided by how
/// often its word occurs if asked.
static LogicalResult embeddingDenseBackward(LowerCall &c) {
  Dim rows = c.dimArg(2), count = c.meta(1).numel();
  int64_t padding = c.integer(3);
  LoweredTensor g = c.operand(0);
  Dim width = g.dims().back();
  DType dtype = g.dtype, work = opmathType(dtype);
  Updates u;
  u.fold = Fold::Sum;
  u.sizes = {rows, width};
  u.dtype = work;
  u.loops = 2;
  u.from = {{UpdatePlace::Index, 0}, {UpdatePlace::Loop, 1}};
  u.values = c.reshape(g, {count, width});
  u.indices = {c.reshape(c.operand(1), {count, 1})};
  if (padding >= 0)
    u.skip = padding;
  LoweredTensor sum = foldUpdates(c, u);
  if (c.flag(4)) {
    u.sizes = {rows, 1};
    u.values = c.filled({}, work, 1);
    sum = c.pointwise({sum, foldUpdates(c, u)}, {rows, width}, work,
                      [](ScalarBuilder &s, ValueRange v) {
                        Value n = s.maximum(v[1], s.one(v[1]));
                        return s.div(v[0], n);
                      });
  }
  c.setResult(0, c.cast(sum, dtype));
  return success();
}

static LogicalResult oneHot(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  Dims sizes = dimsOf(c.resultMeta(0));
  Dim classes = sizes.back();
  if (Dim given = c.dimArg(1); given.isStatic() && given.value() < 0)
    return c.unsupported("without num_classes the result's size depends on "
                         "data");
  if (!hasNoElements(sizes))
    c.checkIndex(x, 0, classes, classes);
  Dims wide = x.dims();
  wide.push_back(1);
  auto last = static_cast<unsigned>(sizes.size()) - 1;
  c.setResult(
      0, c.pointwise(c.reshape(x, wide), c.resultMeta(0),
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value k =
                           fromIndex(s, iterationIndex(s, last), DType::I64);
                       Value i = s.cast(v[0], x.dtype, DType::I64);
                       return s.cast(s.cmp(ScalarBuilder::Cmp::Eq, i, k),
                                     DType::Bool, c.resultMeta(0).dtype);
                     }));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("embedding.default", embedding),
    anyShape("embedding_backward.default", embeddingDenseBackward),
    anyShape("embedding_dense_backward.default", embeddingDenseBackward),
    anyShape("one_hot.default", oneHot),
};

ArrayRef<LowerRuleRow> embeddingLowerRules() { return kRows; }

} // namespace ft
