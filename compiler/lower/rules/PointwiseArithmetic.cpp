//===- PointwiseArithmetic.cpp - Formulas of arithmetic -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/rules/PointwiseBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ft {

using P = PointwiseBody;

static constexpr double kPi = 3.14159265358979323846;

static Value add(P &p) { return p.add(p[0], p.scaled(p[1], 2)); }
static Value sub(P &p) { return p.sub(p[0], p.scaled(p[1], 2)); }
static Value rsub(P &p) { return p.sub(p[1], p.scaled(p[0], 2)); }
static Value mul(P &p) { return p.mul(p[0], p[1]); }
static Value trueDiv(P &p) { return p.div(p[0], p[1]); }
static Value floorDiv(P &p) { return p.floorDiv(p[0], p[1]); }
static Value fmod(P &p) { return p.remainderTrunc(p[0], p[1]); }
static Value remainder(P &p) { return p.remainderFloor(p[0], p[1]); }

static Value divMode(P &p) {
  if (!p.has(2))
    return trueDiv(p);
  return p.text(2) == "floor" ? floorDiv(p) : p.truncDiv(p[0], p[1]);
}

static Value neg(P &p) {
  return p.dtype == DType::Bool ? p.refuse() : p.neg(p[0]);
}

/// Exponents that ATen replaces by exact arithmetic; small integer powers of
/// integers are multiplied out.
static Value powNumber(P &p) {
  Value x = p[0];
  if (p.dtype == DType::Bool || !p.number(1).isKnown())
    return p.pow(x, p[1]);
  double e = p.known(1);
  if (e == 0)
    return p.one(x);
  if (e == 1)
    return x;
  if (e == 2)
    return p.square(x);
  if (e == 3)
    return p.mul(p.square(x), x);
  if (!p.isInteger()) {
    if (e == 0.5)
      return p.sqrt(x);
    if (e == -0.5)
      return p.reciprocal(p.sqrt(x));
    if (e == -1)
      return p.reciprocal(x);
    if (e == -2)
      return p.reciprocal(p.square(x));
  } else if (e > 0 && e <= 64) {
    Value result;
    Value square = x;
    for (auto n = static_cast<unsigned>(e); n; n >>= 1) {
      if (n & 1)
        result = result ? p.mul(result, square) : square;
      square = p.square(square);
    }
    return result;
  }
  return p.pow(x, p[1]);
}

/// 1 to any power is 1, to NaN too.
static Value pow(P &p) { return p.isOne(0) ? p.one(p[0]) : p.pow(p[0], p[1]); }

static Value clamp(P &p) {
  Value x = p[0];
  if (p.has(1))
    x = p.max(x, p[1]);
  return p.has(2) ? p.min(x, p[2]) : x;
}

static Value maximum(P &p) { return p.max(p[0], p[1]); }
static Value minimum(P &p) { return p.min(p[0], p[1]); }

// NaN loses here.
static Value fmax(P &p) {
  if (p.isInteger())
    return maximum(p);
  return arith::MaxNumFOp::create(p.b, p.loc, p[0], p[1]);
}
static Value fmin(P &p) {
  if (p.isInteger())
    return minimum(p);
  return arith::MinNumFOp::create(p.b, p.loc, p[0], p[1]);
}

static Value where(P &p) { return p.select(p.truth(0), p[1], p[2]); }
static Value maskedFill(P &p) { return p.select(p.truth(1), p[2], p[0]); }

/// The form whose error is smallest at the nearer end.
static Value lerp(P &p) {
  Value w = p[2], difference = p.sub(p[1], p[0]);
  Value fromStart = p.add(p[0], p.mul(w, difference));
  Value fromEnd = p.sub(p[1], p.mul(difference, p.sub(p.one(w), w)));
  Value half = p.like(w, 0.5);
  Value near =
      p.isComplex() ? p.lt(p.abs(w), p.abs(half)) : p.lt(p.abs(w), half);
  return p.select(near, fromStart, fromEnd);
}

static Value abs(P &p) { return p.abs(p[0]); }

static Value sign(P &p) {
  Value x = p[0];
  if (p.isComplex())
    return complex::SignOp::create(p.b, p.loc, x);
  if (p.isUnsigned())
    return p.dtype == DType::Bool ? x : p.min(x, p.one(x));
  Value negative = p.select(p.lt(x, p.zero(x)), p.like(x, -1), p.zero(x));
  return p.select(p.lt(p.zero(x), x), p.one(x), negative);
}

static Value angle(P &p) {
  Value x = p[0];
  if (p.isComplex())
    return complex::AngleOp::create(p.b, p.loc, x);
  Value a = p.select(p.lt(x, p.zero(x)), p.like(x, kPi), p.zero(x));
  return p.select(p.isNan(x), x, a);
}

static Value conj(P &p) {
  if (!p.isComplex())
    return p[0];
  return complex::ConjOp::create(p.b, p.loc, p[0]);
}

static Value roundDecimals(P &p) {
  Value x = p[0];
  double decimals = p.known(1);
  if (p.isInteger() || decimals == 0)
    return p.round(x);
  Value scale = p.like(x, std::pow(10.0, std::fabs(decimals)));
  return decimals > 0 ? p.div(p.round(p.mul(x, scale)), scale)
                      : p.mul(p.round(p.div(x, scale)), scale);
}

/// Larger times sqrt(1 + (smaller / larger)²), which cannot overflow early.
static Value hypot(P &p) {
  Value x = p.abs(p[0]), y = p.abs(p[1]);
  Value large = arith::MaxNumFOp::create(p.b, p.loc, x, y);
  Value small = arith::MinNumFOp::create(p.b, p.loc, x, y);
  Value ratio = p.div(small, large);
  Value h = p.mul(large, p.sqrt(p.add(p.one(x), p.square(ratio))));
  h = p.select(p.eq(large, p.zero(x)), large, h);
  Value nan = p.bitOr(p.isNan(x), p.isNan(y));
  h = p.select(nan, p.add(x, y), h);
  Value inf = p.like(x, std::numeric_limits<double>::infinity());
  return p.select(p.bitOr(p.eq(x, inf), p.eq(y, inf)), inf, h);
}

static Value heaviside(P &p) {
  Value x = p[0];
  Value step = p.select(p.lt(p.zero(x), x), p.one(x), p.zero(x));
  return p.select(p.eq(x, p.zero(x)), p[1], step);
}

/// log(exp(x) + exp(y)) without overflow; equal infinities stay.
static Value logAddExp(P &p, bool base2) {
  Value x = p[0], y = p[1];
  if (p.isComplex())
    return p.refuse();
  Value distance = p.neg(p.abs(p.sub(x, y)));
  Value tail = base2 ? p.mul(p.log1p(p.exp2(distance)), 1.44269504088896340736)
                     : p.log1p(p.exp(distance));
  Value inf = p.like(x, std::numeric_limits<double>::infinity());
  Value same = p.bitAnd(p.eq(p.abs(x), inf), p.eq(x, y));
  return p.select(same, x, p.add(p.max(x, y), tail));
}

static Value xlogy(P &p) {
  Value x = p[0], y = p[1];
  Value product = p.select(p.eq(x, p.zero(x)), p.zero(x), p.mul(x, p.log(y)));
  return p.select(p.isNan(y), y, product);
}

static Value xlog1py(P &p) {
  Value x = p[0], y = p[1];
  Value product = p.select(p.eq(x, p.zero(x)), p.zero(x), p.mul(x, p.log1p(y)));
  return p.select(p.isNan(y), y, product);
}

static double largest(DType d) {
  switch (d) {
  case DType::F64:
    return std::numeric_limits<double>::max();
  case DType::F16:
    return 65504;
  case DType::BF16:
    return 0x1.FEp127;
  default:
    return std::numeric_limits<float>::max();
  }
}

static Value nanToNum(P &p) {
  Value x = p[0];
  if (p.isInteger())
    return x;
  if (p.isComplex())
    return p.refuse();
  double inf = std::numeric_limits<double>::infinity();
  double most = largest(p.resultDtype);
  Value nan = p.has(1) ? p[1] : p.zero(x);
  Value high = p.has(2) ? p[2] : p.like(x, most);
  Value low = p.has(3) ? p[3] : p.like(x, -most);
  Value y = p.select(p.eq(x, p.like(x, inf)), high, x);
  y = p.select(p.eq(x, p.like(x, -inf)), low, y);
  return p.select(p.isNan(x), nan, y);
}

/// Euclid: while y: x, y = y, x rem y.
static Value gcd(P &p) {
  Value x = p.abs(p[0]), y = p.abs(p[1]);
  return p.repeat(
      {x, y}, [&](ValueRange v) { return p.ne(v[1], p.zero(v[1])); },
      [&](ValueRange v) -> SmallVector<Value> {
        return {v[1], p.remainderTrunc(v[0], v[1])};
      })[0];
}

/// 8 and 16 bits are multiplied as int32, as C does: the magnitude is taken of
/// what has not wrapped yet.
static Value lcm(P &p) {
  Value g = gcd(p);
  Value none = p.eq(g, p.zero(g));
  Value q = p.truncDiv(p[0], p.select(none, p.one(g), g));
  DType wide = dtypeBytes(p.dtype) < 4 ? DType::I32 : p.dtype;
  Value product = p.abs(p.mul(p.cast(q, p.dtype, wide), p.as(1, wide)));
  return p.select(none, p.zero(g), p.cast(product, wide, p.dtype));
}

Value shiftLeft(P &p) {
  Value x = p[0], y = p[1];
  if (!p.isInteger())
    return p.mul(x, p.exp2(y));
  unsigned bits = x.getType().getIntOrFloatBitWidth();
  // One unsigned comparison also catches negative counts.
  Value inside = p.cmp(P::Cmp::Lt, y, p.constantInt(y.getType(), bits), true);
  Value count = p.select(inside, y, p.zero(y));
  return p.select(inside, arith::ShLIOp::create(p.b, p.loc, x, count),
                  p.zero(x));
}

Value shiftRight(P &p) {
  Value x = p[0], y = p[1];
  if (!p.isInteger())
    return p.div(x, p.exp2(y));
  unsigned bits = x.getType().getIntOrFloatBitWidth();
  Value limit = p.constantInt(y.getType(), bits);
  Value inside = p.cmp(P::Cmp::Lt, y, limit, true);
  if (p.isUnsigned()) {
    Value count = p.select(inside, y, p.zero(y));
    return p.select(inside, arith::ShRUIOp::create(p.b, p.loc, x, count),
                    p.zero(x));
  }
  // What shifts everything out leaves the sign.
  Value count = p.select(inside, y, p.constantInt(y.getType(), bits - 1));
  return arith::ShRSIOp::create(p.b, p.loc, x, count);
}

static Value bitNot(P &p) { return p.logicalNot(p[0]); }
static Value bitAnd(P &p) { return p.bitAnd(p[0], p[1]); }
static Value bitOr(P &p) { return p.bitOr(p[0], p[1]); }
static Value bitXor(P &p) { return p.bitXor(p[0], p[1]); }
static Value truncate(P &p) { return p.truncate(p[0]); }
static Value atan2(P &p) { return p.atan2(p[0], p[1]); }
static Value square(P &p) { return p.square(p[0]); }
static Value acos(P &p) { return p.acos(p[0]); }
static Value acosh(P &p) { return p.acosh(p[0]); }
static Value asin(P &p) { return p.asin(p[0]); }
static Value asinh(P &p) { return p.asinh(p[0]); }
static Value atan(P &p) { return p.atan(p[0]); }
static Value atanh(P &p) { return p.atanh(p[0]); }

/// x 2^y.
static Value ldexp(P &p) {
  Value y = p[1];
  return p.mul(p[0], p.isComplex() ? p.pow(p.like(y, 2), y) : p.exp2(y));
}

static const FormulaRow kRows[] = {
    {"add.Tensor", add},
    {"add.Scalar", add},
    {"sub.Tensor", sub},
    {"sub.Scalar", sub},
    {"subtract.Tensor", sub},
    {"subtract.Scalar", sub},
    {"rsub.Tensor", rsub},
    {"rsub.Scalar", rsub},
    {"mul.Tensor", mul},
    {"mul.Scalar", mul},
    {"multiply.Tensor", mul},
    {"multiply.Scalar", mul},
    {"div.Tensor", trueDiv},
    {"div.Scalar", trueDiv},
    {"div.Tensor_mode", divMode},
    {"div.Scalar_mode", divMode},
    {"divide.Tensor", trueDiv},
    {"divide.Scalar", trueDiv},
    {"divide.Tensor_mode", divMode},
    {"divide.Scalar_mode", divMode},
    {"true_divide.Tensor", trueDiv},
    {"true_divide.Scalar", trueDiv},
    {"floor_divide.default", floorDiv},
    {"floor_divide.Scalar", floorDiv},
    {"fmod.Tensor", fmod},
    {"fmod.Scalar", fmod},
    {"remainder.Tensor", remainder},
    {"remainder.Scalar", remainder},
    {"remainder.Scalar_Tensor", remainder},
    {"neg.default", neg},
    {"negative.default", neg},
    {"abs.default", abs, ComputeIn::Parts},
    {"absolute.default", abs, ComputeIn::Parts},
    {"angle.default", angle, ComputeIn::Parts},
    {"_conj_physical.default", conj},
    {"conj_physical.default", conj},
    {"sign.default", sign},
    {"sgn.default", sign},
    {"square.default", square},
    {"pow.Tensor_Scalar", powNumber},
    {"pow.Tensor_Tensor", pow},
    {"pow.Scalar", pow},
    {"float_power.Tensor_Scalar", powNumber},
    {"float_power.Tensor_Tensor", pow},
    {"float_power.Scalar", pow},
    {"clamp.default", clamp},
    {"clamp.Tensor", clamp},
    {"clip.default", clamp},
    {"clip.Tensor", clamp},
    {"clamp_min.default", maximum},
    {"clamp_min.Tensor", maximum},
    {"clamp_max.default", minimum},
    {"clamp_max.Tensor", minimum},
    {"maximum.default", maximum},
    {"minimum.default", minimum},
    {"fmax.default", fmax},
    {"fmin.default", fmin},
    {"where.self", where},
    {"where.ScalarSelf", where},
    {"where.ScalarOther", where},
    {"where.Scalar", where},
    {"masked_fill.Scalar", maskedFill},
    {"masked_fill.Tensor", maskedFill},
    {"lerp.Scalar", lerp},
    {"lerp.Tensor", lerp},
    {"addcmul.default",
     [](P &p) { return p.add(p[0], p.mul(p.scaled(p[1], 3), p[2])); }},
    {"addcdiv.default",
     [](P &p) { return p.add(p[0], p.div(p.scaled(p[1], 3), p[2])); }},

    {"floor.default", [](P &p) { return p.floor(p[0]); }},
    {"ceil.default", [](P &p) { return p.ceil(p[0]); }},
    {"trunc.default", truncate},
    {"fix.default", truncate},
    {"frac.default", [](P &p) { return p.sub(p[0], p.truncate(p[0])); }},
    {"round.default", [](P &p) { return p.round(p[0]); }},
    {"round.decimals", roundDecimals},
    {"special_round.default", roundDecimals},

    {"reciprocal.default", [](P &p) { return p.reciprocal(p[0]); }},
    {"sqrt.default", [](P &p) { return p.sqrt(p[0]); }},
    {"rsqrt.default", [](P &p) { return p.reciprocal(p.sqrt(p[0])); }},
    {"exp.default", [](P &p) { return p.exp(p[0]); }},
    {"exp2.default", [](P &p) { return p.exp2(p[0]); }},
    {"special_exp2.default", [](P &p) { return p.exp2(p[0]); }},
    {"expm1.default", [](P &p) { return p.expm1(p[0]); }},
    {"special_expm1.default", [](P &p) { return p.expm1(p[0]); }},
    {"log.default", [](P &p) { return p.log(p[0]); }},
    {"log2.default", [](P &p) { return p.log2(p[0]); }},
    {"log10.default", [](P &p) { return p.log10(p[0]); }},
    {"log1p.default", [](P &p) { return p.log1p(p[0]); }},
    {"special_log1p.default", [](P &p) { return p.log1p(p[0]); }},
    {"sin.default", [](P &p) { return p.sin(p[0]); }},
    {"cos.default", [](P &p) { return p.cos(p[0]); }},
    {"tan.default", [](P &p) { return p.tan(p[0]); }},
    {"sinh.default", [](P &p) { return p.sinh(p[0]); }},
    {"cosh.default", [](P &p) { return p.cosh(p[0]); }},
    {"tanh.default", [](P &p) { return p.tanh(p[0]); }},
    {"asin.default", asin},
    {"arcsin.default", asin},
    {"acos.default", acos},
    {"arccos.default", acos},
    {"atan.default", atan},
    {"arctan.default", atan},
    {"asinh.default", asinh},
    {"arcsinh.default", asinh},
    {"acosh.default", acosh},
    {"arccosh.default", acosh},
    {"atanh.default", atanh},
    {"arctanh.default", atanh},
    {"atan2.default", atan2},
    {"arctan2.default", atan2},
    {"deg2rad.default", [](P &p) { return p.mul(p[0], kPi / 180); }},
    {"rad2deg.default", [](P &p) { return p.mul(p[0], 180 / kPi); }},
    {"hypot.default", hypot},
    {"copysign.Tensor", [](P &p) { return p.copySign(p[0], p[1]); }},
    {"copysign.Scalar", [](P &p) { return p.copySign(p[0], p[1]); }},
    {"heaviside.default", heaviside},
    {"ldexp.Tensor", ldexp},
    {"logaddexp.default", [](P &p) { return logAddExp(p, false); }},
    {"logaddexp2.default", [](P &p) { return logAddExp(p, true); }},
    {"xlogy.Tensor", xlogy},
    {"xlogy.Scalar_Self", xlogy},
    {"xlogy.Scalar_Other", xlogy},
    {"special_xlogy.default", xlogy},
    {"special_xlogy.self_scalar", xlogy},
    {"special_xlogy.other_scalar", xlogy},
    {"special_xlog1py.default", xlog1py},
    {"special_xlog1py.self_scalar", xlog1py},
    {"special_xlog1py.other_scalar", xlog1py},
    {"nan_to_num.default", nanToNum},
    {"gcd.default", gcd},
    {"lcm.default", lcm},
    {"complex.default",
     [](P &p) { return p.makeComplex(p.real(p[0]), p.real(p[1])); }},
    {"polar.default",
     [](P &p) {
       Value r = p.real(p[0]), angle = p.real(p[1]);
       return p.makeComplex(p.mul(r, p.cos(angle)), p.mul(r, p.sin(angle)));
     }},

    {"bitwise_not.default", bitNot},
    {"bitwise_and.Tensor", bitAnd},
    {"bitwise_and.Scalar", bitAnd},
    {"bitwise_and.Scalar_Tensor", bitAnd},
    {"__and__.Tensor", bitAnd},
    {"__and__.Scalar", bitAnd},
    {"bitwise_or.Tensor", bitOr},
    {"bitwise_or.Scalar", bitOr},
    {"bitwise_or.Scalar_Tensor", bitOr},
    {"__or__.Tensor", bitOr},
    {"__or__.Scalar", bitOr},
    {"bitwise_xor.Tensor", bitXor},
    {"bitwise_xor.Scalar", bitXor},
    {"bitwise_xor.Scalar_Tensor", bitXor},
    {"__xor__.Tensor", bitXor},
    {"__xor__.Scalar", bitXor},
    {"bitwise_left_shift.Tensor", shiftLeft},
    {"bitwise_left_shift.Tensor_Scalar", shiftLeft},
    {"bitwise_left_shift.Scalar_Tensor", shiftLeft},
    {"__lshift__.Tensor", shiftLeft},
    {"__lshift__.Scalar", shiftLeft},
    {"bitwise_right_shift.Tensor", shiftRight},
    {"bitwise_right_shift.Tensor_Scalar", shiftRight},
    {"bitwise_right_shift.Scalar_Tensor", shiftRight},
    {"__rshift__.Tensor", shiftRight},
    {"__rshift__.Scalar", shiftRight},
};

ArrayRef<FormulaRow> arithmeticFormulas() { return kRows; }

} // namespace ft
