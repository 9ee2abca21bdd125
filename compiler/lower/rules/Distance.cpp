//===- Distance.cpp - Lowering of distances between vectors ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/PNorm.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

using Ints = Dims;

/// What one more difference makes of a distance. Where a norm counts a NaN as
/// one element that is not 0, the distance of p = 0 is NaN.
static Value distanceStep(ScalarBuilder &s, double p, Value so, Value d) {
  Value next = pNormStep(s, p, so, d);
  return p == 0
             ? s.select(s.cmp(ScalarBuilder::Cmp::Ne, d, d), s.add(so, d), next)
             : next;
}

/// out[…, i, j] = |x1[…, i, :] - x2[…, j, :]|_p, batch dims broadcast.
static LogicalResult distances(LowerCall &c, double p) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  Ints outSizes = dimsOf(c.resultMeta(0));
  auto rank = static_cast<unsigned>(outSizes.size());
  AffineExpr k = c.dim(rank);
  auto access = [&](const LoweredTensor &t, unsigned row) {
    Access access{t, {}};
    Ints sizes = t.dims();
    size_t batch = sizes.size() - 2, skip = rank - 2 - batch;
    for (size_t i = 0; i < batch; ++i)
      access.index.push_back(sizes[i] == 1 && outSizes[skip + i] != 1
                                 ? c.constant(0)
                                 : c.dim(static_cast<unsigned>(skip + i)));
    access.index.append({c.dim(row), k});
    return access;
  };
  SmallVector<AffineExpr, 6> index;
  for (unsigned d = 0; d < rank; ++d)
    index.push_back(c.dim(d));
  SmallVector<Iterator> iterators(rank + 1, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  Start start = pNormStart(p, sum, a.dims().back().is(0));
  DType left = a.dtype, right = b.dtype;
  LoweredTensor y =
      c.generic({access(a, rank - 2), access(b, rank - 1)},
                Access{filledWith(c, outSizes, start), index}, iterators,
                [&](ScalarBuilder &s, ValueRange v) {
                  Value d =
                      s.sub(s.cast(v[0], left, sum), s.cast(v[1], right, sum));
                  return SmallVector<Value>{distanceStep(s, p, v[2], d)};
                })[0];
  c.setResult(
      0, c.pointwise(y, outSizes, dtype, [&](ScalarBuilder &s, ValueRange v) {
        return s.cast(pNormEnd(s, p, v[0]), sum, dtype);
      }));
  return success();
}

static LogicalResult cdist(LowerCall &c) { return distances(c, c.number(2)); }
static LogicalResult euclidean(LowerCall &c) { return distances(c, 2); }

/// All pairs i < j of rows, in order: pair number q of n rows has
/// i = floor(n - 1/2 - sqrt((n - 1/2)^2 - 2q - 1)).
static LogicalResult pdist(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  double p = c.number(1);
  Dim n = x.dims()[0], width = x.dims()[1];
  Dim pairs = c.resultMeta(0).sizes[0];
  DType from = x.dtype, dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  // An operand that is never read gives the inner loop its extent.
  Access extent{c.empty({width}, dtype), {c.dim(1)}};
  Start start = pNormStart(p, sum, width.is(0));
  LoweredTensor y = c.generic(
      extent, Access{filledWith(c, {pairs}, start), {c.dim(0)}},
      {Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value q = loopIndex(s, 0), e = loopIndex(s, 1);
        Type real = s.b.getF64Type();
        auto whole = [&](int64_t number) {
          return s.constantInt(q.getType(), number);
        };
        Value middle = s.sub(c.sizeIn(s, n, DType::F64), s.constant(real, 0.5));
        Value root = s.sub(
            s.sub(s.mul(middle, middle), s.constant(real, 1)),
            s.mul(s.constant(real, 2), s.cast(q, DType::I64, DType::F64)));
        Value i = s.cast(s.sub(middle, s.sqrt(root)), DType::F64, DType::I64);
        // Rows before i have i * n - i (i + 1) / 2 pairs.
        Value before = s.sub(s.mul(i, c.sizeIn(s, n, DType::I64)),
                             s.div(s.mul(i, s.add(i, whole(1))), whole(2)));
        Value j = s.add(s.add(s.sub(q, before), i), whole(1));
        Value d = s.sub(s.cast(elementAt(s, x, {i, e}), from, sum),
                        s.cast(elementAt(s, x, {j, e}), from, sum));
        return SmallVector<Value>{distanceStep(s, p, v.back(), d)};
      })[0];
  c.setResult(
      0, c.pointwise(y, {pairs}, dtype, [&](ScalarBuilder &s, ValueRange v) {
        return s.cast(pNormEnd(s, p, v[0]), sum, dtype);
      }));
  return success();
}

static LoweredTensor broadcastTo(LowerCall &c, LoweredTensor x,
                                 const LoweredTensor &other) {
  Ints sizes = x.dims(), own = other.dims();
  if (own.size() > sizes.size())
    sizes.insert(sizes.begin(), own.size() - sizes.size(), 1);
  for (size_t i = 0, skip = sizes.size() - own.size(); i < own.size(); ++i)
    if (own[i] != 1)
      sizes[skip + i] = own[i];
  return c.expand(x, sizes);
}

/// |x1 - x2 + eps|_p along the last dim: (x1, x2, p, eps, keepdim).
static LogicalResult pairwise(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  if (isComplex(a.dtype) || isComplex(b.dtype))
    return c.unsupported("complex numbers");
  a = broadcastTo(c, a, b);
  if (a.rank() == 0) // one number is a row of one
    a = c.reshape(a, {1});
  double eps = c.number(3);
  DType left = a.dtype, right = b.dtype;
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  LoweredTensor d =
      c.pointwise({a, b}, a.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
        Value y = s.sub(s.cast(v[0], left, sum), s.cast(v[1], right, sum));
        return s.add(y, s.constant(y.getType(), eps));
      });
  LoweredTensor norm = pNorm(c, d, c.number(2), d.rank() - 1, c.flag(4), dtype);
  c.setResult(0, c.reshape(norm, dimsOf(c.resultMeta(0))));
  return success();
}

/// x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)): (x1, x2, dim, eps).
static LogicalResult cosine(LowerCall &c) {
  LoweredTensor a = c.operand(0), b = c.operand(1);
  a = broadcastTo(c, a, b);
  b = broadcastTo(c, b, a);
  unsigned dim = LowerCall::wrapDim(c.integer(2), a.rank());
  double eps = c.number(3);
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  SmallVector<LoweredTensor> r = dotAndSquares(c, a, b, dim, sum);
  c.setResult(0, c.pointwise(r, r[0].dims(), dtype,
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value least = s.constant(v[0].getType(), eps);
                               Value size =
                                   s.mul(s.maximum(s.sqrt(v[1]), least),
                                         s.maximum(s.sqrt(v[2]), least));
                               return s.cast(s.div(v[0], size), sum, dtype);
                             }));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_cdist_forward.default", cdist),
    anyShape("_euclidean_dist.default", euclidean),
    anyShape("_pdist_forward.default", pdist),
    anyShape("cdist.default", cdist),
    anyShape("cosine_similarity.default", cosine),
    anyShape("pairwise_distance.default", pairwise),
    anyShape("pdist.default", pdist),
};

ArrayRef<LowerRuleRow> distanceLowerRules() { return kRows; }

} // namespace ft
