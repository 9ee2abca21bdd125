//===- UpsampleInRun.cpp - Image resizing with sizes of the run -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas of Upsample.cpp as code. Positions follow ATen's arithmetic,
// float32 or double, because a floor is taken of them.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Upsample.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;
using RunTaps = SmallVector<RunTap, 4>;

namespace {
class Resizer {
public:
  Resizer(LowerCall &c, ScalarBuilder &s, Filter f, const ResizedDim &dim,
          DType work)
      : c(c), s(s), f(f), dim(dim), work(work) {}

  RunTaps at(Value position);

private:
  LowerCall &c;
  ScalarBuilder &s;
  Filter f;
  const ResizedDim &dim;
  DType work;

  Value k(double v) {
    return s.constant(computeType(s.b.getContext(), work), v);
  }
  Value floor(Value x) { return math::FloorOp::create(s.b, s.loc, x); }
  /// A whole number as a place in the dim.
  Value place(Value x) {
    return toIndex(s, s.cast(x, work, DType::I64), DType::I64);
  }
  Value last() { return sizeIndex(c, s, dim.from - 1); }
  Value clamped(Value i) { return s.minimum(s.maximum(i, s.zero(i)), last()); }

  /// Input positions for each output position.
  Value step();
  RunTaps linear(Value source);
  RunTaps cubic(Value source);
};
} // namespace

Value Resizer::step() {
  if (isAligned(f) && dim.alignCorners) {
    Value gaps = c.sizeIn(s, dim.to - 1, work);
    Value ratio = s.div(c.sizeIn(s, dim.from - 1, work), gaps);
    return s.select(s.cmp(Cmp::Gt, gaps, k(0)), ratio, k(0));
  }
  if (dim.scale > 0)
    return k(1.0 / dim.scale);
  return s.div(c.sizeIn(s, dim.from, work), c.sizeIn(s, dim.to, work));
}

RunTaps Resizer::linear(Value source) {
  source = s.maximum(source, k(0));
  Value low = s.minimum(place(floor(source)), last());
  Value rest = s.sub(source, fromIndex(s, low, work));
  Value high = s.minimum(s.maximum(rest, k(0)), k(1));
  Value next = s.minimum(s.add(low, s.one(low)), last());
  // A dim that keeps its size: infinity times 0 is NaN.
  Value kept =
      s.cmp(Cmp::Eq, sizeIndex(c, s, dim.from), sizeIndex(c, s, dim.to));
  next = s.select(kept, low, next);
  return {{low, s.sub(k(1), high)}, {next, high}};
}

/// Keys' cubic with a = -3/4: |x| < 1 and 1 ≤ |x| < 2.
RunTaps Resizer::cubic(Value source) {
  const double kA = -0.75;
  auto polynomial = [&](Value x, double c3, double c2, double c1, double c0) {
    Value y = s.add(s.mul(x, k(c3)), k(c2));
    y = s.add(s.mul(y, x), k(c1));
    return s.add(s.mul(y, x), k(c0));
  };
  auto near = [&](Value x) { return polynomial(x, kA + 2, -(kA + 3), 0, 1); };
  auto far = [&](Value x) {
    return polynomial(x, kA, -5 * kA, 8 * kA, -4 * kA);
  };
  Value whole = floor(source), t = s.sub(source, whole);
  Value rest = s.sub(k(1), t);
  Value weights[] = {far(s.add(t, k(1))), near(t), near(rest),
                     far(s.add(rest, k(1)))};
  Value first = place(s.sub(whole, k(1)));
  RunTaps taps;
  for (int64_t i = 0; i < 4; ++i) {
    Value at = s.add(first, s.constantInt(first.getType(), i));
    taps.push_back({clamped(at), weights[i]});
  }
  return taps;
}

RunTaps Resizer::at(Value position) {
  Value i = fromIndex(s, position, work);
  switch (f) {
  case Filter::Nearest:
    return {{s.minimum(place(floor(s.mul(i, step()))), last()), Value()}};
  case Filter::NearestExact: {
    Value source = s.mul(s.add(i, k(0.5)), step());
    return {{s.minimum(place(floor(source)), last()), Value()}};
  }
  default:
    break;
  }
  Value source = dim.alignCorners
                     ? s.mul(step(), i)
                     : s.sub(s.mul(step(), s.add(i, k(0.5))), k(0.5));
  return f == Filter::Linear ? linear(source) : cubic(source);
}

RunResampling resizedInRun(LowerCall &c, Filter f, const ResizedDim &dim,
                           DType dtype) {
  RunResampling map;
  map.to = dim.to;
  map.taps = f == Filter::Cubic ? 4 : f == Filter::Linear ? 2 : 1;
  map.weighted = isAligned(f);
  // The nearest position is found in float whatever the image's dtype is.
  DType work = dtype == DType::F64 && isAligned(f) ? DType::F64 : DType::F32;
  map.at = [&c, f, dim, work](ScalarBuilder &s, Value position) {
    return Resizer(c, s, f, dim, work).at(position);
  };
  return map;
}

} // namespace ft
