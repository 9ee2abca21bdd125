//===- MathLowering.cpp - Elementary functions as polynomials -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function is reduced to a short interval, where a polynomial (fitted at
// Chebyshev nodes for relative error) is good to a few 1e-8, and put together
// again. Selects instead of branches, integer tricks instead of conversions:
//
//   x + 1.5 * 2^23 holds round(x) in its lowest bits, so that n = round(x) is
//   had as a number (subtract again) and as an integer (the bits) without a
//   conversion, which a NaN would make undefined.
//
// Comparisons are written so that a NaN takes the way that keeps it.

#include "compiler/codegen/cpu/MathLowering.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ft {

namespace {

/// Arithmetic on values of one float type and the integers of its width.
struct Arithmetic {
  OpBuilder &b;
  Location loc;
  Type type; ///< f32 or f64, or a vector of it

  Type integerType() const {
    unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    Type t = b.getIntegerType(bits);
    if (auto v = dyn_cast<VectorType>(type))
      return VectorType::get(v.getShape(), t);
    return t;
  }
  Arithmetic as(Type element) const {
    if (auto v = dyn_cast<VectorType>(type))
      return {b, loc, VectorType::get(v.getShape(), element)};
    return {b, loc, element};
  }
  Value constant(double c) {
    TypedAttr a = b.getFloatAttr(getElementTypeOrSelf(type), c);
    if (auto v = dyn_cast<VectorType>(type))
      a = DenseElementsAttr::get(v, Attribute(a));
    return arith::ConstantOp::create(b, loc, a);
  }
  Value integer(int64_t c) {
    Type t = integerType();
    TypedAttr a = b.getIntegerAttr(getElementTypeOrSelf(t), c);
    if (auto v = dyn_cast<VectorType>(t))
      a = DenseElementsAttr::get(v, Attribute(a));
    return arith::ConstantOp::create(b, loc, a);
  }
  arith::FastMathFlagsAttr contract() {
    return arith::FastMathFlagsAttr::get(b.getContext(),
                                         arith::FastMathFlags::contract);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b, loc, x); }
  /// x * y + z, fused where the target can.
  Value fma(Value x, Value y, Value z) {
    Value p = arith::MulFOp::create(b, loc, x, y, contract());
    return arith::AddFOp::create(b, loc, p, z, contract());
  }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value copySign(Value x, Value sign) {
    return math::CopySignOp::create(b, loc, x, sign);
  }
  Value compare(arith::CmpFPredicate p, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, p, x, y);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, loc, c, x, y);
  }
  Value bits(Value x) {
    return arith::BitcastOp::create(b, loc, integerType(), x);
  }
  Value fromBits(Value i) { return arith::BitcastOp::create(b, loc, type, i); }
  Value addI(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value subI(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value shl(Value x, int64_t n) {
    return arith::ShLIOp::create(b, loc, x, integer(n));
  }
  Value sar(Value x, int64_t n) {
    return arith::ShRSIOp::create(b, loc, x, integer(n));
  }
  Value andI(Value x, int64_t m) {
    return arith::AndIOp::create(b, loc, x, integer(m));
  }
  Value polynomial(Value x, ArrayRef<double> highestFirst) {
    Value p = constant(highestFirst[0]);
    for (double c : highestFirst.drop_front())
      p = fma(p, x, constant(c));
    return p;
  }
};

constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;
// ln 2 in two parts; products of the first with |n| < 2^10 are exact.
constexpr double kLn2Hi = 0.693359375, kLn2Lo = -2.12194440054690583e-4;

struct ExpParts {
  Value fraction;  ///< exp(r) - 1, |r| <= ln 2 / 2
  Value low, high; ///< 2^n = low * high
};

} // namespace

/// Splits exp(x) (base e) or 2^x; x is in a range where both powers exist.
static ExpParts splitExp(Arithmetic &m, Value x, bool baseTwo) {
  Value magic = m.constant(12582912.0);
  Value shifted = m.fma(x, m.constant(baseTwo ? 1.0 : kLog2E), magic);
  Value n = m.sub(shifted, magic);
  Value r;
  if (baseTwo) {
    r = m.mul(m.sub(x, n), m.constant(kLn2));
  } else {
    r = m.fma(n, m.constant(-kLn2Hi), x);
    r = m.fma(n, m.constant(-kLn2Lo), r);
  }
  static constexpr double kExp[] = {0.0001989103065, 0.001393368586,
                                    0.00833331089,   0.0416664646,
                                    0.1666666668,    0.5000000013};
  Value q = m.polynomial(r, kExp);
  Value fraction = m.fma(m.mul(r, r), q, r);
  // Two powers: 2^n itself may be no normal number.
  Value i = m.subI(m.bits(shifted), m.bits(magic));
  Value half = m.sar(i, 1);
  auto power = [&](Value e) {
    return m.fromBits(m.shl(m.addI(e, m.integer(127)), 23));
  };
  return {fraction, power(half), power(m.subI(i, half))};
}

static Value clamp(Arithmetic &m, Value x, double low, double high) {
  Value l = m.constant(low), h = m.constant(high);
  x = m.select(m.compare(arith::CmpFPredicate::OLT, x, l), l, x);
  return m.select(m.compare(arith::CmpFPredicate::OGT, x, h), h, x);
}

static Value expOf(Arithmetic m, Value x, bool baseTwo = false) {
  // Beyond these the result is 0 or infinity.
  Value c = baseTwo ? clamp(m, x, -151, 129) : clamp(m, x, -104.5, 89.2);
  ExpParts e = splitExp(m, c, baseTwo);
  Value p = m.add(e.fraction, m.constant(1));
  return m.mul(m.mul(p, e.low), e.high);
}

static Value expm1Of(Arithmetic m, Value x) {
  Value c = clamp(m, x, -104.5, 89.2);
  ExpParts e = splitExp(m, c, false);
  Value one = m.constant(1);
  Value power = m.mul(e.low, e.high);
  Value small = m.fma(e.fraction, power, m.sub(power, one));
  Value large = m.mul(m.mul(m.add(e.fraction, one), e.low), e.high);
  Value isLarge = m.compare(arith::CmpFPredicate::OGT, x, m.constant(40.0));
  Value r = m.select(isLarge, large, small);
  // Keeps -0.
  return m.select(m.compare(arith::CmpFPredicate::OEQ, x, m.constant(0)), x, r);
}

namespace {
struct LogParts {
  Value fraction; ///< log of the mantissa
  Value exponent;
};
} // namespace

/// x = 2^exponent * mantissa, mantissa in [sqrt 1/2, sqrt 2); x > 0, finite.
static LogParts splitLog(Arithmetic &m, Value x) {
  Value tiny =
      m.compare(arith::CmpFPredicate::OLT, x, m.constant(1.17549435e-38));
  Value scaled = m.mul(x, m.constant(8388608.0));
  x = m.select(tiny, scaled, x);
  Value i = m.bits(x);
  Value shifted = m.subI(i, m.integer(0x3f3504f3)); // bits of sqrt 1/2
  Value e = m.sar(shifted, 23);
  Value mantissa = m.fromBits(m.subI(i, m.shl(e, 23)));
  Value exponent = arith::SIToFPOp::create(m.b, m.loc, m.type, e);
  exponent = m.select(tiny, m.sub(exponent, m.constant(23)), exponent);
  Value f = m.sub(mantissa, m.constant(1));
  static constexpr double kLog[] = {0.06971611471, -0.1147973385, 0.1168541992,
                                    -0.1242568733, 0.1424905765,  -0.1666780232,
                                    0.2000071575,  -0.2499999696, 0.3333333118};
  Value z = m.mul(f, f);
  Value y = m.mul(m.mul(m.polynomial(f, kLog), f), z);
  y = m.fma(z, m.constant(-0.5), y);
  return {m.add(f, y), exponent};
}

enum class LogBase { E, Two, Ten };

static Value logOf(Arithmetic m, Value x, LogBase base = LogBase::E) {
  LogParts p = splitLog(m, x);
  Value r;
  switch (base) {
  case LogBase::E:
    r = m.fma(p.exponent, m.constant(kLn2Lo), p.fraction);
    r = m.fma(p.exponent, m.constant(kLn2Hi), r);
    break;
  case LogBase::Two:
    r = m.fma(p.fraction, m.constant(kLog2E), p.exponent);
    break;
  case LogBase::Ten: {
    constexpr double log10E = 0.4342944819032518;
    constexpr double hi = 0.30102539, lo = 4.605038981195214e-06;
    r = m.fma(p.fraction, m.constant(log10E),
              m.mul(p.exponent, m.constant(lo)));
    r = m.fma(p.exponent, m.constant(hi), r);
    break;
  }
  }
  double inf = std::numeric_limits<double>::infinity();
  Value zero = m.constant(0);
  // Infinity and NaN are their own logarithms.
  r = m.select(m.compare(arith::CmpFPredicate::OLT, x, m.constant(inf)), r, x);
  r = m.select(m.compare(arith::CmpFPredicate::OEQ, x, zero), m.constant(-inf),
               r);
  Value isNegative = m.compare(arith::CmpFPredicate::OLT, x, zero);
  return m.select(isNegative, m.constant(std::nan("")), r);
}

/// log(1 + x) = log(u) * x / (u - 1) for u = 1 + x as rounded.
static Value log1pOf(Arithmetic m, Value x) {
  Value one = m.constant(1);
  Value u = m.add(x, one);
  Value d = m.sub(u, one);
  Value l = logOf(m, u);
  Value r = m.mul(l, m.div(x, d));
  r = m.select(m.compare(arith::CmpFPredicate::OEQ, d, m.constant(0)), x, r);
  // Infinities: the quotient means nothing, the logarithm is right.
  Value big = m.compare(arith::CmpFPredicate::OGT, x, m.constant(1e30));
  return m.select(big, l, r);
}

static Value tanhOf(Arithmetic m, Value x) {
  Value a = m.abs(x);
  static constexpr double kTanh[] = {0.002292744816, -0.008343945516,
                                     0.02176891865,  -0.05395925958,
                                     0.1333330356,   -0.3333333317};
  Value z = m.mul(x, x);
  Value small = m.fma(m.mul(m.polynomial(z, kTanh), z), x, x);
  small = m.copySign(small, x); // of -0 the sum is 0
  Value c = clamp(m, a, 0, 10);
  Value e = expOf(m, m.add(c, c));
  Value one = m.constant(1);
  Value large = m.sub(one, m.div(m.constant(2), m.add(e, one)));
  large = m.copySign(large, x);
  Value isSmall = m.compare(arith::CmpFPredicate::OLT, a, m.constant(0.625));
  return m.select(isSmall, small, large);
}

static Value erfOf(Arithmetic m, Value x) {
  Value a = m.abs(x);
  static constexpr double kErf[] = {
      -9.667044571e-6, 0.0001126595903, -0.0008484080406, 0.005221031808,
      -0.02686543073,  0.112837825,     -0.3761263847,    0.1283791671};
  Value small = m.fma(m.polynomial(m.mul(x, x), kErf), x, x);
  // erfc(t) = exp(p(t)) for 1 <= t <= 4; beyond 4, erf is 1.
  static constexpr double kLogErfc[] = {
      1.637151415e-6,  -4.605804269e-5, 0.0005968056257,
      -0.004759596293, 0.02642113601,   -0.1100800829,
      -0.6318260516,   -1.130233435,    0.0003201380497};
  Value t = clamp(m, a, 1, 4);
  Value p = m.polynomial(t, kLogErfc);
  // The exponent is in [-18, -1]: no need for the care of expOf.
  ExpParts e = splitExp(m, p, false);
  Value power = m.mul(e.low, e.high);
  Value erfc = m.fma(e.fraction, power, power);
  Value large = m.copySign(m.sub(m.constant(1), erfc), x);
  Value isLarge = m.compare(arith::CmpFPredicate::OGT, a, m.constant(1));
  return m.select(isLarge, large, small);
}

/// x / (pi/2) modulo 4, in [0, 28), for f64 values that are floats of any size.
/// 2/pi is cut into chunks of 28 bits, so that every product with a 24-bit x is
/// exact, and multiples of 4 are taken off each product before they are added:
/// only the bits that matter are left. 7 chunks reach past 2^128.
static Value quarterTurns(Arithmetic d, Value x) {
  static constexpr double kTwoOverPi[] = {
      0x1.45f306c000000p-1,  0x1.c9c882a000000p-29,  0x1.4fe13a8000000p-59,
      0x1.f47d4d0000000p-86, 0x1.bb81b6c000000p-113, 0x1.4acc9e0000000p-143,
      0x1.0e4107c000000p-170};
  Value sum;
  for (double chunk : kTwoOverPi) {
    Value product = d.mul(x, d.constant(chunk));
    Value turns =
        math::FloorOp::create(d.b, d.loc, d.mul(product, d.constant(0.25)));
    Value rest = d.sub(product, d.mul(turns, d.constant(4)));
    sum = sum ? d.add(sum, rest) : rest;
  }
  return sum;
}

/// sin and cos: the multiple of pi/2 is taken off in f64, bit by bit where x is
/// so large that its product with 2/pi has no fraction left.
static Value sineOf(Arithmetic m, Value x, bool cosine) {
  Arithmetic d = m.as(m.b.getF64Type());
  Value wide = arith::ExtFOp::create(m.b, m.loc, d.type, x);
  Value magic = d.constant(6755399441055744.0); // 1.5 * 2^52
  Value shifted = d.add(d.mul(wide, d.constant(0.6366197723675814)), magic);
  Value n = d.sub(shifted, magic);
  Value rest = d.fma(n, d.constant(-1.5707963267341256), wide);
  rest = d.fma(n, d.constant(-6.077100506506192e-11), rest);
  Value turns = quarterTurns(d, wide);
  Value turned = d.add(turns, magic);
  Value fraction = d.sub(turns, d.sub(turned, magic));
  Value isLarge =
      d.compare(arith::CmpFPredicate::OGT, d.abs(wide), d.constant(4194304));
  rest =
      d.select(isLarge, d.mul(fraction, d.constant(1.5707963267948966)), rest);
  shifted = d.select(isLarge, turned, shifted);
  Value r = arith::TruncFOp::create(m.b, m.loc, m.type, rest);
  Value quadrant =
      arith::TruncIOp::create(m.b, m.loc, m.integerType(), d.bits(shifted));
  if (cosine)
    quadrant = m.addI(quadrant, m.integer(1));

  static constexpr double kSin[] = {2.724962e-6, -0.0001984008438,
                                    0.00833333187, -0.1666666666};
  static constexpr double kCos[] = {-2.730070397e-7, 2.480059841e-5,
                                    -0.001388888767, 0.04166666666};
  Value z = m.mul(r, r);
  Value s = m.fma(m.mul(m.polynomial(z, kSin), z), r, r);
  s = m.copySign(s, r); // of -0 the sum is 0
  Value c = m.fma(m.mul(m.polynomial(z, kCos), z), z,
                  m.fma(z, m.constant(-0.5), m.constant(1)));
  Value odd = arith::CmpIOp::create(m.b, m.loc, arith::CmpIPredicate::ne,
                                    m.andI(quadrant, 1), m.integer(0));
  Value v = m.select(odd, c, s);
  Value sign = m.shl(m.andI(quadrant, 2), 30);
  Value flipped = arith::XOrIOp::create(m.b, m.loc, m.bits(v), sign);
  return m.fromBits(flipped);
}

/// x to a constant power, if that is a few multiplications.
static Value powOf(Arithmetic m, Value x, Value exponent) {
  FloatAttr e;
  DenseElementsAttr dense;
  if (matchPattern(exponent, m_Constant(&dense)) && dense.isSplat())
    e = dense.getSplatValue<FloatAttr>();
  else if (!matchPattern(exponent, m_Constant(&e)))
    if (auto splat = exponent.getDefiningOp();
        !splat || splat->getNumOperands() != 1 ||
        splat->getName().getStringRef() != "vector.broadcast" ||
        !matchPattern(splat->getOperand(0), m_Constant(&e)))
      return Value();
  double v = e.getValueAsDouble();
  if (v == 1)
    return x;
  if (v == 2)
    return m.mul(x, x);
  if (v == 3)
    return m.mul(m.mul(x, x), x);
  if (v == 4) {
    Value s = m.mul(x, x);
    return m.mul(s, s);
  }
  if (v == -1)
    return m.div(m.constant(1), x);
  if (v == 0)
    return m.constant(1);
  if (v == 0.5) {
    // Unlike sqrt: pow(-0) is +0, pow(-inf) is inf.
    Value r = math::SqrtOp::create(m.b, m.loc, m.add(x, m.constant(0)));
    double inf = std::numeric_limits<double>::infinity();
    return m.select(m.compare(arith::CmpFPredicate::OEQ, x, m.constant(-inf)),
                    m.constant(inf), r);
  }
  return Value();
}

static Value expand(Operation *op, Arithmetic m) {
  Value x = op->getOperand(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return expOf(m, x); })
      .Case([&](math::Exp2Op) { return expOf(m, x, true); })
      .Case([&](math::ExpM1Op) { return expm1Of(m, x); })
      .Case([&](math::LogOp) { return logOf(m, x); })
      .Case([&](math::Log2Op) { return logOf(m, x, LogBase::Two); })
      .Case([&](math::Log10Op) { return logOf(m, x, LogBase::Ten); })
      .Case([&](math::Log1pOp) { return log1pOf(m, x); })
      .Case([&](math::TanhOp) { return tanhOf(m, x); })
      .Case([&](math::ErfOp) { return erfOf(m, x); })
      .Case([&](math::SinOp) { return sineOf(m, x, false); })
      .Case([&](math::CosOp) { return sineOf(m, x, true); })
      .Case([&](math::TanOp) {
        return m.div(sineOf(m, x, false), sineOf(m, x, true));
      })
      .Default([](Operation *) { return Value(); });
}

/// What has the same form for every float type.
static Value expandAnyFloat(Operation *op, Arithmetic m) {
  Value x = op->getOperand(0);
  double inf = std::numeric_limits<double>::infinity();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::RsqrtOp) {
        return m.div(m.constant(1), math::SqrtOp::create(m.b, m.loc, x));
      })
      // MLIR folds its own atan2(0, 0) to NaN.
      .Case([&](math::Atan2Op) {
        return LLVM::ATan2Op::create(m.b, m.loc, x, op->getOperand(1));
      })
      .Case([&](math::PowFOp) { return powOf(m, x, op->getOperand(1)); })
      .Case([&](math::IsNaNOp) {
        return m.compare(arith::CmpFPredicate::UNO, x, x);
      })
      .Case([&](math::IsInfOp) {
        return m.compare(arith::CmpFPredicate::OEQ, m.abs(x), m.constant(inf));
      })
      .Case([&](math::IsFiniteOp) {
        return m.compare(arith::CmpFPredicate::OLT, m.abs(x), m.constant(inf));
      })
      .Default([](Operation *) { return Value(); });
}

/// f32, or a vector of it.
static Type floatLike(Type narrow) {
  Type wide = Float32Type::get(narrow.getContext());
  auto vector = dyn_cast<VectorType>(narrow);
  return vector ? vector.clone(wide) : wide;
}

/// f16 and bf16 are computed in f32 and rounded once.
static Operation *widen(Operation *op) {
  OpBuilder b(op);
  Type narrow = op->getResult(0).getType(), wide = floatLike(narrow);
  Operation *copy = b.clone(*op);
  b.setInsertionPoint(copy);
  for (OpOperand &operand : copy->getOpOperands())
    if (operand.get().getType() == narrow)
      operand.set(arith::ExtFOp::create(b, op->getLoc(), wide, operand.get()));
  copy->getResult(0).setType(wide);
  b.setInsertionPointAfter(copy);
  Value back =
      arith::TruncFOp::create(b, op->getLoc(), narrow, copy->getResult(0));
  op->getResult(0).replaceAllUsesWith(back);
  op->erase();
  return copy;
}

/// Integers become bf16 by way of f32. LLVM 22 takes the sign bit of a value
/// that it has converted to bf16 for 0 where nothing else of it is used
/// (llvm-project pull request 189363 mends it for 23); what is rounded by
/// integer arithmetic, as truncations are, is safe.
template <typename Op>
static void convertByFloat(ModuleOp module) {
  module.walk([](Op op) {
    Type narrow = op.getType();
    if (!getElementTypeOrSelf(narrow).isBF16())
      return;
    OpBuilder b(op);
    Value y = Op::create(b, op.getLoc(), floatLike(narrow), op.getIn());
    y = arith::TruncFOp::create(b, op.getLoc(), narrow, y);
    op.replaceAllUsesWith(y);
    op.erase();
  });
}

void lowerMath(ModuleOp module) {
  convertByFloat<arith::SIToFPOp>(module);
  convertByFloat<arith::UIToFPOp>(module);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (op->getNumResults() != 1 || !op->getNumOperands())
      continue;
    Type operandType = op->getOperand(0).getType();
    Type element = getElementTypeOrSelf(operandType);
    if (!isa<FloatType>(element))
      continue;
    bool narrow = element.isF16() || element.isBF16();
    if (narrow && op->getResult(0).getType() == operandType &&
        !isa<math::AbsFOp, math::CopySignOp>(op)) {
      op = widen(op);
      operandType = op->getOperand(0).getType();
      element = getElementTypeOrSelf(operandType);
    }
    OpBuilder b(op);
    Arithmetic m{b, op->getLoc(), operandType};
    Value v = expandAnyFloat(op, m);
    if (!v && element.isF32())
      v = expand(op, m);
    if (!v)
      continue;
    op->getResult(0).replaceAllUsesWith(v);
    op->erase();
  }

  RewritePatternSet patterns(module.getContext());
  arith::populateExpandBFloat16Patterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (Operation &f : *module.getBody())
    if (f.getNumRegions())
      walkAndApplyPatterns(&f, frozen);
}

} // namespace ft
