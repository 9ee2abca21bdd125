//===- DistanceBackward.cpp - Gradients of distances -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slope of |d|_p by one of the differences d: sign(d) |d|^(p-1) /
// dist^(p-1), 0 where the distance is; for p = inf, the sign of the differences
// that are as large as the distance.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

/// Times `grad`; all are of one float type. A NaN or an infinity goes where the
/// products of PyTorch's kernels take it: the sign of a NaN is NaN, and a
/// factor of zero does not hide an infinite gradient.
static Value slope(ScalarBuilder &s, double p, Value grad, Value d,
                   Value distance) {
  Value zero = s.zero(d);
  auto power = [&](Value x, double y) -> Value {
    return math::PowFOp::create(s.b, s.loc, x, s.constant(x.getType(), y));
  };
  if (p == 0)
    return zero;
  Value size = math::AbsFOp::create(s.b, s.loc, d);
  Value below = s.constant(d.getType(), -1);
  Value sign = s.select(s.cmp(Cmp::Lt, d, zero), below,
                        s.select(s.cmp(Cmp::Gt, d, zero), s.one(d), d));
  if (p == 1)
    return s.mul(grad, sign);
  if (std::isinf(p)) {
    Value gap = s.sub(size, distance);
    Value isLargest = s.select(s.cmp(Cmp::Eq, gap, zero), s.one(d),
                               s.select(s.cmp(Cmp::Ne, gap, gap), gap, zero));
    return s.mul(s.mul(grad, sign), isLargest);
  }
  Value y;
  if (p == 2)
    y = s.div(s.mul(grad, d), distance);
  else if (p < 2)
    y = s.div(s.mul(s.mul(sign, power(size, p - 1)), grad),
              power(distance, p - 1));
  else
    y = s.div(s.mul(s.mul(d, power(size, p - 2)), grad),
              power(distance, p - 1));
  y = s.select(s.cmp(Cmp::Eq, distance, zero), zero, y);
  return p < 1 ? s.select(s.cmp(Cmp::Eq, d, zero), zero, y) : y;
}

/// (grad [.., i, j], x1 [.., i, m], x2 [.., j, m], p, cdist [.., i, j])
static LogicalResult cdistBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), a = c.operand(1), b = c.operand(2),
                distance = c.operand(4);
  double p = c.number(3);
  Dims outSizes = dimsOf(c.resultMeta(0));
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  auto rank = static_cast<unsigned>(outSizes.size());
  auto isEmpty = [](const Dims &sizes) {
    return llvm::any_of(sizes, [](const Dim &size) { return size.is(0); });
  };
  if (isEmpty(outSizes) || isEmpty(grad.dims()) || isEmpty(b.dims())) {
    c.setResult(0, c.filled(outSizes, dtype, 0));
    return success();
  }
  AffineExpr i = c.dim(rank - 2), m = c.dim(rank - 1), j = c.dim(rank);
  auto access = [&](const LoweredTensor &t, AffineExpr row, AffineExpr column) {
    Access access{t, {}};
    Dims sizes = t.dims();
    size_t batch = sizes.size() - 2, skip = rank - 2 - batch;
    for (size_t d = 0; d < batch; ++d)
      access.index.push_back(sizes[d] == 1
                                 ? c.constant(0)
                                 : c.dim(static_cast<unsigned>(skip + d)));
    access.index.append({row, column});
    return access;
  };
  SmallVector<AffineExpr, 6> index;
  for (unsigned d = 0; d < rank; ++d)
    index.push_back(c.dim(d));
  SmallVector<Iterator> iterators(rank + 1, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  LoweredTensor y = c.generic(
      {access(grad, i, j), access(a, i, m), access(b, j, m),
       access(distance, i, j)},
      Access{c.filled(outSizes, sum, 0), index}, iterators,
      [&](ScalarBuilder &s, ValueRange v) {
        Value d = s.sub(s.cast(v[1], a.dtype, sum), s.cast(v[2], b.dtype, sum));
        Value g = slope(s, p, s.cast(v[0], grad.dtype, sum), d,
                        s.cast(v[3], distance.dtype, sum));
        return SmallVector<Value>{s.add(v[4], g)};
      })[0];
  c.setResult(0, c.cast(y, dtype));
  return success();
}

/// (grad [pairs], x [n, m], p, pdist [pairs]): row i has a pair with each other
/// row j, whose number is i' n - i' (i' + 1) / 2 + j' - i' - 1 with i' < j'.
static LogicalResult pdistBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), x = c.operand(1), distance = c.operand(3);
  double p = c.number(2);
  Dim n = x.dims()[0];
  DType dtype = c.resultMeta(0).dtype, sum = opmathType(dtype);
  LoweredTensor out = c.filled(x.dims(), sum, 0);
  if (n.isStatic() && n.value() < 2) {
    c.setResult(0, c.cast(out, dtype));
    return success();
  }
  AffineExpr i = c.dim(0), m = c.dim(1), j = c.dim(2);
  LoweredTensor y = c.generic(
      {Access{x, {i, m}}, Access{x, {j, m}}}, Access{out, {i, m}},
      {Iterator::Parallel, Iterator::Parallel, Iterator::Reduction},
      [&](ScalarBuilder &s, ValueRange v) {
        Value row = loopIndex(s, 0), other = loopIndex(s, 2);
        auto whole = [&](int64_t number) {
          return s.constantInt(row.getType(), number);
        };
        Value low = s.minimum(row, other), high = s.maximum(row, other);
        Value q = s.sub(s.mul(low, c.sizeIn(s, n, DType::I64)),
                        s.div(s.mul(low, s.add(low, whole(1))), whole(2)));
        q = s.sub(s.sub(s.add(q, high), low), whole(1));
        Value same = s.cmp(Cmp::Eq, row, other);
        q = s.select(same, whole(0), q);
        Value d = s.sub(s.cast(v[0], x.dtype, sum), s.cast(v[1], x.dtype, sum));
        Value g = slope(s, p, s.cast(elementAt(s, grad, q), grad.dtype, sum), d,
                        s.cast(elementAt(s, distance, q), distance.dtype, sum));
        return SmallVector<Value>{s.add(v[2], s.select(same, s.zero(g), g))};
      })[0];
  c.setResult(0, c.cast(y, dtype));
  return success();
}

ArrayRef<LowerRuleRow> distanceBackwardLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("_cdist_backward.default", cdistBackward),
      anyShape("_pdist_backward.default", pdistBackward),
  };
  return rows;
}

} // namespace ft
