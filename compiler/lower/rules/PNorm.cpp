//===- PNorm.cpp - The p-norm, element by element --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/PNorm.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace ft {

Start pNormStart(double p, DType dtype, bool empty) {
  if (std::isinf(p) && p < 0 && !empty)
    return highestOf(dtype);
  return {dtype, 0, std::nullopt};
}

Value pNormStep(ScalarBuilder &s, double p, Value accumulator, Value x) {
  Value v;
  if (auto type = dyn_cast<ComplexType>(x.getType()))
    v = complex::AbsOp::create(s.b, s.loc, type.getElementType(), x);
  else
    v = math::AbsFOp::create(s.b, s.loc, x);
  if (std::isinf(p))
    return p > 0 ? s.maximum(accumulator, v) : s.minimum(accumulator, v);
  if (p == 0)
    v = s.select(s.cmp(ScalarBuilder::Cmp::Ne, v, s.zero(v)), s.one(v),
                 s.zero(v));
  else if (p == 2)
    v = s.mul(v, v);
  else if (p != 1)
    v = math::PowFOp::create(s.b, s.loc, v, s.constant(v.getType(), p));
  return s.add(accumulator, v);
}

Value pNormEnd(ScalarBuilder &s, double p, Value accumulator) {
  if (p == 2)
    return s.sqrt(accumulator);
  if (p == 0 || p == 1 || std::isinf(p))
    return accumulator;
  return math::PowFOp::create(s.b, s.loc, accumulator,
                              s.constant(accumulator.getType(), 1 / p));
}

LoweredTensor pNorm(LowerCall &c, LoweredTensor x, double p,
                    ArrayRef<unsigned> dims, bool keepDim, DType dtype) {
  DType from = x.dtype, real = opmathType(dtype);
  DType wide = isComplex(from) ? opmathType(from) : real;
  Start start = pNormStart(p, real, elementsAlong(x, dims).is(0));
  LoweredTensor sum = reduceTo(c, x, dims, keepDim, start, [&](ReduceStep &r) {
    Value v = r.s.cast(r.elements[0], from, wide);
    return SmallVector<Value>{pNormStep(r.s, p, r.accumulators[0], v)};
  })[0];
  return c.pointwise(sum, sum.dims(), dtype,
                     [&](ScalarBuilder &s, ValueRange v) {
                       return s.cast(pNormEnd(s, p, v[0]), real, dtype);
                     });
}

} // namespace ft
