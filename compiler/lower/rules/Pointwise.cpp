//===- Pointwise.cpp - Lowering of elementwise operators ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nearly all elementwise overloads are a formula in a table (PointwiseBody.h);
// one rule serves them all. The few with several results, or whose operands are
// not elementwise, have rules of their own here.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/PointwiseBody.h"
#include "dialects/ft/Promotion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ft {

std::vector<FormulaRow> allFormulas() {
  std::vector<FormulaRow> all;
  for (ArrayRef<FormulaRow> rows :
       {arithmeticFormulas(), comparisonFormulas(), activationFormulas(),
        specialFormulas(), besselFormulas(), orthogonalFormulas(),
        numberFormulas()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

static const llvm::StringMap<const FormulaRow *> &formulas() {
  static const llvm::StringMap<const FormulaRow *> table = [] {
    llvm::StringMap<const FormulaRow *> byName;
    static const std::vector<FormulaRow> rows = allFormulas();
    for (const FormulaRow &row : rows)
      byName[row.name] = &row;
    return byName;
  }();
  return table;
}

const FormulaRow *formulaNamed(StringRef name) {
  return formulas().lookup(name);
}

/// What the operands promote to; numbers that only tune the formula (declared
/// `float`, `int` or `bool`) do not count, `Scalar` arguments do.
static DType promotedDType(const FormulaCall &f, DType result,
                           bool numbers = true) {
  TypePromotion promotion;
  unsigned next = 0;
  for (auto [i, arg] : llvm::enumerate(f.call.args)) {
    if (arg.kind == Arg::Tensor)
      promotion.add(f.ins[next].dtype, f.ins[next].rank() == 0);
    else if (numbers && f.call.schema->args[i].type.kind == SchemaType::Scalar)
      promotion.add(arg);
    next += isElement(arg);
  }
  // Operands that do not promote were refused by the fake rule.
  return promotion.result().value_or(result);
}

static DType computeDType(const FormulaCall &f, ComputeIn computeIn,
                          DType result) {
  if (computeIn == ComputeIn::Numbers)
    return llvm::any_of(f.call.args,
                        [](const Arg &a) { return a.kind == Arg::Float; })
               ? DType::F64
               : DType::I64;
  if (computeIn == ComputeIn::Result)
    return result;
  if (computeIn == ComputeIn::Double)
    return DType::F64;
  if (computeIn == ComputeIn::Tensors)
    return promotedDType(f, result, /*numbers=*/false);
  DType promoted = promotedDType(f, result);
  if (computeIn == ComputeIn::Operands || isComplex(promoted))
    return promoted;
  return result;
}

/// Whether the body applies a function of real numbers to integers or complex
/// numbers: PyTorch's kernels of such formulas do not take them either.
static bool mistakesNumbers(OpBuilder &b) {
  return llvm::any_of(*b.getInsertionBlock(), [](Operation &op) {
    if (!isa_and_nonnull<math::MathDialect>(op.getDialect()) ||
        isa<math::AbsIOp, math::IPowIOp, math::CtPopOp,
            math::CountLeadingZerosOp, math::CountTrailingZerosOp>(op))
      return false;
    return !isa<FloatType>(op.getOperand(0).getType());
  });
}

/// The dtype of what a formula returned.
static DType dtypeOfValue(Value v, DType computed) {
  if (v.getType().isInteger(1))
    return DType::Bool;
  if (isComplex(computed) && isa<FloatType>(v.getType()))
    return computed == DType::C128 ? DType::F64 : DType::F32;
  if (!isComplex(computed) && isa<ComplexType>(v.getType()))
    return computed == DType::F64 ? DType::C128 : DType::C64;
  return computed;
}

FailureOr<LoweredTensor> applyFormula(LowerCall &c, Formula formula,
                                      ComputeIn computeIn,
                                      const SizeList &sizes, DType result) {
  FormulaCall f{c.call(), {}};
  for (auto [i, arg] : llvm::enumerate(c.call().args))
    if (isElement(arg))
      f.ins.push_back(c.operand(i));
  return applyFormula(c, f, formula, computeIn, sizes, result);
}

/// Of each operand, whether it is rounded to the 16-bit float that the call
/// promotes it to before it is computed with in float32. Factors and divisors
/// that are scalar tensors are not.
static SmallVector<bool> roundedOperands(const FormulaCall &f, DType promoted) {
  static const llvm::StringSet<> kScaling = {"mul", "multiply", "div", "divide",
                                             "true_divide"};
  SmallVector<bool> rounded(f.ins.size(), false);
  if (promoted != DType::F16 && promoted != DType::BF16)
    return rounded;
  bool scaling = kScaling.contains(f.call.schema->base) &&
                 f.call.schema->overload == "Tensor";
  unsigned next = 0;
  for (auto [i, arg] : llvm::enumerate(f.call.args)) {
    if (!isElement(arg))
      continue;
    const LoweredTensor &t = f.ins[next];
    bool factor = scaling && i == 1 && t.rank() == 0 && isFloating(t.dtype);
    rounded[next++] = arg.kind == Arg::Tensor && !factor &&
                      t.dtype != promoted && t.dtype != DType::Bool;
  }
  return rounded;
}

/// Whether a number beside 16-bit floats is rounded to their dtype before it is
/// computed with: comparisons do that, and of arithmetic what PyTorch has no
/// kernel for that takes a number.
static bool roundsNumbers(const Schema &schema, ComputeIn computeIn) {
  static const llvm::StringSet<> kRounding = {
      "add",       "sub", "subtract", "rsub",          "fmod",
      "remainder", "pow", "xlogy",    "special_xlogy", "special_xlog1py"};
  llvm::StringRef base = schema.base;
  base.consume_front("_foreach_");
  if (schema.mutates)
    base.consume_back("_");
  return computeIn == ComputeIn::Operands || kRounding.contains(base);
}

FailureOr<LoweredTensor> applyFormula(LowerCall &c, const FormulaCall &f,
                                      Formula formula, ComputeIn computeIn,
                                      const SizeList &sizes, DType result) {
  SmallVector<DType> dtypes;
  for (const LoweredTensor &t : f.ins)
    dtypes.push_back(t.dtype);
  DType promoted = computeDType(f, computeIn, result);
  DType computed = opmathType(promoted);
  DType numbers =
      roundsNumbers(*f.call.schema, computeIn) ? promoted : computed;
  SmallVector<bool> rounded = roundedOperands(f, promoted);
  bool refused = false, needsConstant = false;
  LoweredTensor out =
      c.pointwise(f.ins, sizes, result, [&](ScalarBuilder &s, ValueRange in) {
        SmallVector<Value> v(in);
        SmallVector<DType> types(dtypes);
        for (auto [i, round] : llvm::enumerate(rounded))
          if (round) {
            v[i] = s.cast(v[i], types[i], promoted);
            types[i] = promoted;
          }
        PointwiseBody body(s, f.call, computed, numbers, result, v, types);
        Value value = formula(body);
        refused |= body.refused |= mistakesNumbers(s.b);
        needsConstant |= body.needsConstant;
        if (body.refused) // any value of the right type
          return s.constant(computeType(s.b.getContext(), result), 0);
        return s.cast(value, dtypeOfValue(value, computed), result);
      });
  if (needsConstant)
    return c.unsupported("a number that selects the formula is only known at "
                         "run time");
  if (refused)
    return c.unsupported("there is no formula for dtype " +
                         dtypeName(promoted));
  return out;
}

static LogicalResult elementwise(LowerCall &c) {
  const FormulaRow *row = formulaNamed(c.call().schema->name);
  const TensorMeta &meta = c.resultMeta(0);
  FailureOr<LoweredTensor> out =
      applyFormula(c, row->formula, row->computeIn, dimsOf(meta), meta.dtype);
  if (failed(out))
    return failure();
  c.setResult(0, *out);
  return success();
}

//===----------------------------------------------------------------------===//
// Operators that are not one formula
//===----------------------------------------------------------------------===//

/// log_sigmoid with exp(-|x|), which its derivative reads.
static LogicalResult logSigmoidForward(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  if (!isFloating(x.dtype))
    return c.unsupported("there is no formula for dtype " + dtypeName(x.dtype));
  DType dtype = opmathType(x.dtype);
  auto compute = [&](bool buffer) {
    return c.pointwise(x, c.resultMeta(0), [&](ScalarBuilder &s, ValueRange v) {
      PointwiseBody p(s, c.call(), dtype, dtype, x.dtype, v, x.dtype);
      Value z = p.exp(p.neg(p.abs(p[0])));
      if (!buffer)
        z = p.sub(p.min(p[0], p.zero(z)), p.log1p(z));
      return p.cast(z, dtype, x.dtype);
    });
  };
  c.setResult(0, compute(false));
  if (c.resultMeta(1).numel().is(0))
    c.setResult(1, c.empty(dimsOf(c.resultMeta(1)), x.dtype));
  else
    c.setResult(1, compute(true));
  return success();
}

/// The two halves along a dim; the second gates the first.
static LogicalResult glu(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  if (!isFloating(x.dtype) && !isComplex(x.dtype))
    return c.unsupported("there is no formula for dtype " + dtypeName(x.dtype));
  unsigned dim = c.wrapDim(c.integer(1), x.rank());
  Dim half = floorDiv(x.dims()[dim], 2);
  DType dtype = opmathType(x.dtype);
  c.setResult(
      0, c.pointwise({c.slice(x, dim, 0, half), c.slice(x, dim, half, half)},
                     c.resultMeta(0), [&](ScalarBuilder &s, ValueRange v) {
                       Value a = s.cast(v[0], x.dtype, dtype);
                       Value b = s.cast(v[1], x.dtype, dtype);
                       Value gate = s.add(s.one(b), s.exp(s.neg(b)));
                       return s.cast(s.div(a, gate), dtype, x.dtype);
                     }));
  return success();
}

/// Gradient halves g·σ(b) and g·a·σ(b)(1-σ(b)), side by side.
static LogicalResult gluBackward(LowerCall &c) {
  LoweredTensor g = c.operand(0), x = c.operand(1);
  if (isIntegral(x.dtype))
    return c.unsupported("there is no formula for dtype " + dtypeName(x.dtype));
  unsigned dim = c.wrapDim(c.integer(2), x.rank());
  Dims sizes = x.dims(), halves = sizes;
  Dim half = halves[dim] = floorDiv(sizes[dim], 2);
  g = c.expand(g, halves);
  DType dtype = opmathType(x.dtype);
  c.setResult(
      0, generate(c, sizes, x.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        Value middle = sizeIndex(c, s, half);
        Value low = s.cmp(ScalarBuilder::Cmp::Lt, at[dim], middle);
        SmallVector<Value> first(at), second(at);
        first[dim] = s.select(low, at[dim], s.sub(at[dim], middle));
        second[dim] = s.add(first[dim], middle);
        auto read = [&](LoweredTensor &t, ArrayRef<Value> where) {
          return s.cast(readAt(s, t, where), t.dtype, dtype);
        };
        Value a = read(x, first), b = read(x, second), grad = read(g, first);
        Value sigma = s.div(s.one(b), s.add(s.one(b), s.exp(s.neg(b))));
        Value slope = s.mul(s.mul(sigma, s.sub(s.one(b), sigma)), a);
        return s.cast(s.mul(grad, s.select(low, sigma, slope)), dtype, x.dtype);
      }));
  return success();
}

/// (glu, x, dx, dim): da σ(b) + glu (1 - σ(b)) db, where x is a beside b.
static LogicalResult gluTangent(LowerCall &c) {
  LoweredTensor x = c.operand(1), dx = c.operand(2);
  unsigned dim = c.wrapDim(c.integer(3), x.rank());
  Dim half = floorDiv(x.dims()[dim], 2);
  DType from = x.dtype, dtype = opmathType(from);
  c.setResult(
      0, c.pointwise(
             {c.operand(0), c.slice(x, dim, half, half),
              c.slice(dx, dim, 0, half), c.slice(dx, dim, half, half)},
             c.resultMeta(0), [&](ScalarBuilder &s, ValueRange v) {
               auto in = [&](unsigned i) { return s.cast(v[i], from, dtype); };
               Value b = in(1);
               Value gate = s.div(s.one(b), s.add(s.one(b), s.exp(s.neg(b))));
               Value left = s.sub(in(3), s.mul(gate, in(3)));
               return s.cast(s.add(s.mul(in(2), gate), s.mul(in(0), left)),
                             dtype, from);
             }));
  return success();
}

/// One weight, or one for each channel (dim 1).
static LogicalResult prelu(LowerCall &c) {
  LoweredTensor x = c.operand(0), w = c.operand(1);
  DType dtype = opmathType(x.dtype);
  Dims shape(x.rank(), Dim(1));
  if (x.rank() > 1)
    shape[1] = w.rank() ? w.dims()[0] : Dim(1);
  w = c.reshape(w, shape);
  c.setResult(0, c.pointwise({x, w}, c.resultMeta(0),
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value e = s.cast(v[0], x.dtype, dtype);
                               Value k = s.cast(v[1], w.dtype, dtype);
                               Value positive =
                                   s.cmp(ScalarBuilder::Cmp::Lt, s.zero(e), e);
                               Value y = s.select(positive, e, s.mul(e, k));
                               return s.cast(y, dtype, x.dtype);
                             }));
  return success();
}

/// Gradients of self and of the (broadcast, not yet summed) weight.
static LogicalResult preluKernelBackward(LowerCall &c) {
  LoweredTensor g = c.operand(0), x = c.operand(1), w = c.operand(2);
  DType dtype = opmathType(x.dtype);
  for (unsigned r : {0U, 1U})
    c.setResult(
        r, c.pointwise(
               {g, x, w}, c.resultMeta(r), [&](ScalarBuilder &s, ValueRange v) {
                 Value grad = s.cast(v[0], g.dtype, dtype);
                 Value e = s.cast(v[1], x.dtype, dtype);
                 Value k = s.cast(v[2], w.dtype, dtype);
                 Value positive = s.cmp(ScalarBuilder::Cmp::Lt, s.zero(e), e);
                 Value y = r == 0
                               ? s.select(positive, grad, s.mul(grad, k))
                               : s.select(positive, s.zero(e), s.mul(grad, e));
                 return s.cast(y, dtype, c.resultMeta(r).dtype);
               }));
  return success();
}

namespace {
/// Where the fields of an IEEE format lie.
struct FloatFields {
  unsigned bits, mantissa;
  int64_t bias;
};
} // namespace

static FloatFields fieldsOf(DType d) {
  switch (d) {
  case DType::F64:
    return {64, 52, 1023};
  case DType::F16:
    return {16, 10, 15};
  case DType::BF16:
    return {16, 7, 127};
  default:
    return {32, 23, 127};
  }
}

/// The next representable number from x towards y, by its bits: floats of one
/// sign are ordered as their bits are.
static LogicalResult nextAfter(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype;
  LoweredTensor x = c.cast(c.operand(0), dtype),
                y = c.cast(c.operand(1), dtype);
  FloatFields f = fieldsOf(dtype);
  c.setResult(
      0, c.pointwise(
             {x, y}, c.resultMeta(0),
             [&](ScalarBuilder &s, ValueRange v) -> Value {
               using Cmp = ScalarBuilder::Cmp;
               Type type = v[0].getType();
               Type bits = s.b.getIntegerType(f.bits);
               Value from = v[0], to = v[1];
               Value raw = arith::BitcastOp::create(s.b, s.loc, bits, from);
               Value up = s.cmp(Cmp::Lt, from, to);
               Value positive = s.cmp(Cmp::Lt, s.zero(from), from);
               // Away from zero if x > 0 and up, or x < 0 and down.
               Value away = s.cmp(Cmp::Eq, up, positive);
               Value step = s.select(away, s.constantInt(bits, 1),
                                     s.constantInt(bits, -1));
               Value next =
                   arith::BitcastOp::create(s.b, s.loc, type, s.add(raw, step));
               // The smallest subnormal, with the sign of y.
               Value sign = s.constantInt(
                   bits, static_cast<int64_t>(uint64_t(1) << (f.bits - 1)));
               Value least = s.select(up, s.constantInt(bits, 1),
                                      s.add(sign, s.one(sign)));
               least = arith::BitcastOp::create(s.b, s.loc, type, least);
               Value zero = s.cmp(Cmp::Eq, from, s.zero(from));
               next = s.select(zero, least, next);
               next = s.select(s.cmp(Cmp::Eq, from, to), to, next);
               Value nan = s.add(from, to);
               return s.select(
                   s.cmp(Cmp::Ne, nan, nan),
                   s.select(s.cmp(Cmp::Ne, from, from), from,
                            s.select(s.cmp(Cmp::Ne, to, to), to, next)),
                   next);
             }));
  return success();
}

/// Mantissa in [0.5, 1) and exponent, from the bits; subnormals are scaled up
/// by 2^mantissa first.
static LogicalResult frexp(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  DType dtype = opmathType(x.dtype);
  FloatFields f = fieldsOf(dtype);
  auto compute = [&](bool exponent) {
    return c.pointwise(
        x, c.resultMeta(exponent ? 1 : 0),
        [&](ScalarBuilder &s, ValueRange v) -> Value {
          using Cmp = ScalarBuilder::Cmp;
          Value e = s.cast(v[0], x.dtype, dtype);
          Type bits = s.b.getIntegerType(f.bits);
          auto mask = [&](int64_t m) { return s.constantInt(bits, m); };
          int64_t exponentMask = ((int64_t(1) << (f.bits - 1 - f.mantissa)) - 1)
                                 << f.mantissa;
          auto exponentOf = [&](Value raw) -> Value {
            return arith::ShRUIOp::create(
                s.b, s.loc,
                arith::AndIOp::create(s.b, s.loc, raw, mask(exponentMask)),
                mask(f.mantissa));
          };
          Value raw = arith::BitcastOp::create(s.b, s.loc, bits, e);
          Value tiny = s.cmp(Cmp::Eq, exponentOf(raw), mask(0));
          double lift = static_cast<double>(uint64_t(1) << f.mantissa);
          Value scaled =
              s.select(tiny, s.mul(e, s.constant(e.getType(), lift)), e);
          raw = arith::BitcastOp::create(s.b, s.loc, bits, scaled);
          Value field = exponentOf(raw);
          // 0, infinities and NaN are their own mantissa, with exponent 0.
          Value special =
              s.cmp(Cmp::Eq, field,
                    mask(exponentMask >> static_cast<int64_t>(f.mantissa)));
          Value zero = s.cmp(Cmp::Eq, e, s.zero(e));
          special = arith::OrIOp::create(s.b, s.loc, special, zero);
          if (exponent) {
            Value n = s.sub(field, mask(f.bias - 1));
            n = s.select(tiny, s.sub(n, mask(f.mantissa)), n);
            n = s.select(special, mask(0), n);
            return s.cast(n, f.bits == 64 ? DType::I64 : DType::I32,
                          c.resultMeta(1).dtype);
          }
          Value kept =
              arith::AndIOp::create(s.b, s.loc, raw, mask(~exponentMask));
          Value half = arith::OrIOp::create(s.b, s.loc, kept,
                                            mask((f.bias - 1) << f.mantissa));
          Value mantissa =
              arith::BitcastOp::create(s.b, s.loc, e.getType(), half);
          return s.cast(s.select(special, e, mantissa), dtype,
                        c.resultMeta(0).dtype);
        });
  };
  c.setResult(0, compute(false));
  c.setResult(1, compute(true));
  return success();
}

static const LowerRuleRow kOthers[] = {
    anyShape("log_sigmoid_forward.default", logSigmoidForward),
    anyShape("glu.default", glu),
    anyShape("glu_backward.default", gluBackward),
    anyShape("glu_jvp.default", gluTangent),
    anyShape("prelu.default", prelu),
    anyShape("_prelu_kernel_backward.default", preluKernelBackward),
    anyShape("nextafter.default", nextAfter),
    anyShape("frexp.Tensor", frexp),
};

ArrayRef<LowerRuleRow> pointwiseLowerRules() {
  static const std::vector<LowerRuleRow> rows = [] {
    std::vector<LowerRuleRow> all(std::begin(kOthers), std::end(kOthers));
    for (const FormulaRow &row : allFormulas())
      all.push_back(anyShape(row.name, elementwise, Numbers::Runtime));
    llvm::append_range(all, foreachLowerRules());
    llvm::append_range(all, incompleteGammaLowerRules());
    return all;
  }();
  return rows;
}

} // namespace ft
