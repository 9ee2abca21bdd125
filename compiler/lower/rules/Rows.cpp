//===- Rows.cpp - Softmax and moments along some dims ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/Rows.h"

#include <limits>

using namespace mlir;

namespace ft {

ExpSum expSum(LowerCall &c, LoweredTensor x, ArrayRef<unsigned> dims,
              InfiniteMax infinite) {
  DType from = x.dtype, sum = opmathType(from);
  ExpSum e;
  e.max = reduceTo(c, x, dims, true, lowestOf(sum), [&](ReduceStep &r) {
    Value v = r.s.cast(r.elements[0], from, sum);
    return SmallVector<Value>{r.s.maximum(r.accumulators[0], v)};
  })[0];
  if (infinite != InfiniteMax::Kept)
    e.max = c.pointwise(
        e.max, e.max.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
          Value inf = s.constant(v[0].getType(),
                                 std::numeric_limits<double>::infinity());
          Value size = infinite == InfiniteMax::IsZero
                           ? s.maximum(v[0], s.neg(v[0]))
                           : s.neg(v[0]);
          Value bad = s.cmp(ScalarBuilder::Cmp::Eq, size, inf);
          return s.select(bad, s.zero(v[0]), v[0]);
        });
  e.sum = reduceTo(c, {x, e.max}, dims, true, Start{sum, 0, std::nullopt},
                   [&](ReduceStep &r) {
                     Value v = r.s.cast(r.elements[0], from, sum);
                     Value p = r.s.exp(r.s.sub(v, r.elements[1]));
                     return SmallVector<Value>{r.s.add(r.accumulators[0], p)};
                   })[0];
  return e;
}

LoweredTensor softmaxRows(LowerCall &c, LoweredTensor x, unsigned dim,
                          DType dtype, bool safe) {
  DType from = x.dtype, sum = opmathType(from);
  if (!isFloating(from) && !isComplex(from)) {
    x = c.cast(x, dtype);
    from = dtype;
    sum = opmathType(from);
  }
  ExpSum e =
      expSum(c, x, dim, safe ? InfiniteMax::LowestIsZero : InfiniteMax::Kept);
  return c.pointwise(
      {x, e.max, e.sum}, x.dims(), dtype, [&](ScalarBuilder &s, ValueRange v) {
        Value p = s.exp(s.sub(s.cast(v[0], from, sum), v[1]));
        Value total = v[2];
        if (safe)
          total = s.select(s.cmp(ScalarBuilder::Cmp::Eq, total, s.zero(total)),
                           s.one(total), total);
        return s.cast(s.div(p, total), sum, dtype);
      });
}

LoweredTensor logSoftmaxRows(LowerCall &c, LoweredTensor x, unsigned dim,
                             DType dtype) {
  DType from = x.dtype, sum = opmathType(from);
  if (!isFloating(from)) {
    x = c.cast(x, dtype);
    from = dtype;
    sum = opmathType(from);
  }
  ExpSum e = expSum(c, x, dim, InfiniteMax::Kept);
  // The logarithm once for each row, not for each element.
  LoweredTensor log =
      c.pointwise(e.sum, e.sum.dims(), sum,
                  [](ScalarBuilder &s, ValueRange v) { return s.log(v[0]); });
  return c.pointwise(
      {x, e.max, log}, x.dims(), dtype, [&](ScalarBuilder &s, ValueRange v) {
        Value y = s.sub(s.sub(s.cast(v[0], from, sum), v[1]), v[2]);
        return s.cast(y, sum, dtype);
      });
}

Moments moments(LowerCall &c, LoweredTensor x, ArrayRef<unsigned> dims) {
  DType from = x.dtype, sum = opmathType(from);
  Dim count = elementsAlong(x, dims);
  auto divide = [&](LoweredTensor t) {
    return c.pointwise(t, t.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
      return s.div(v[0], c.sizeIn(s, count, sum));
    });
  };
  Moments m;
  m.mean = divide(sumOf(c, x, dims, true, sum));
  if (count.is(0)) // the variance of nothing is NaN, its mean is not
    m.mean = c.filled(m.mean.dims(), sum, 0);
  m.variance = divide(reduceTo(
      c, {x, m.mean}, dims, true, Start{sum, 0, std::nullopt},
      [&](ReduceStep &r) {
        Value d = r.s.sub(r.s.cast(r.elements[0], from, sum), r.elements[1]);
        return SmallVector<Value>{r.s.add(r.accumulators[0], r.s.mul(d, d))};
      })[0]);
  return m;
}

Value reciprocalStd(ScalarBuilder &s, Value variance, double eps) {
  Value shifted = s.add(variance, s.constant(variance.getType(), eps));
  return s.div(s.one(shifted), s.sqrt(shifted));
}

LoweredTensor reciprocalStd(LowerCall &c, LoweredTensor variance, double eps) {
  return c.pointwise(variance, variance.dims(), variance.dtype,
                     [eps](ScalarBuilder &s, ValueRange v) {
                       return reciprocalStd(s, v[0], eps);
                     });
}

} // namespace ft
