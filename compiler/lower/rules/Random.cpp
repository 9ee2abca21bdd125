//===- Random.cpp - Lowering of random numbers -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distributions are functions of the bits of an element (Philox.h); those that
// need a loop for each element, or for the whole tensor, are C kernels.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Philox.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

using DrawBody = llvm::function_ref<Value(RandomBits &, ValueRange)>;

/// The one result, drawn from operands.
static LogicalResult drawResult(LowerCall &c, ArrayRef<LoweredTensor> ins,
                                DrawBody body) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, draw(c, ins, dimsOf(meta), meta.dtype, body));
  return success();
}

/// Both parts of a complex number, or one real number, rounded to the result.
static Value finish(RandomBits &r, Value x, Value y, DType dtype) {
  DType from = opmathType(dtype);
  if (!isComplex(dtype))
    return r.cast(x, from, dtype);
  Value z = complex::CreateOp::create(
      r.b, r.loc, computeType(r.b.getContext(), from), x, y);
  return r.cast(z, from, dtype);
}

//===----------------------------------------------------------------------===//
// Uniform numbers
//===----------------------------------------------------------------------===//

/// rand, rand_like
static LogicalResult uniformUnit(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype;
  return drawResult(c, {}, [&](RandomBits &r, ValueRange) {
    Value second = isComplex(dtype) ? r.uniform(dtype, true) : Value();
    return finish(r, r.uniform(dtype), second, dtype);
  });
}

/// uniform: self, from, to
static LogicalResult uniformBetween(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype;
  double from = c.number(1), width = c.number(2) - from;
  return drawResult(c, {}, [&](RandomBits &r, ValueRange) {
    auto part = [&](bool second) {
      Value u = r.uniform(dtype, second);
      return r.add(r.mul(u, r.constant(u.getType(), width)),
                   r.constant(u.getType(), from));
    };
    return finish(r, part(false), isComplex(dtype) ? part(true) : Value(),
                  dtype);
  });
}

/// Integers in [low, low + range), as `dtype`.
static LogicalResult integers(LowerCall &c, int64_t low, uint64_t range) {
  DType dtype = c.resultMeta(0).dtype;
  return drawResult(c, {}, [&](RandomBits &r, ValueRange) {
    Value n = r.below(range);
    return r.cast(r.add(n, r.constantInt(n.getType(), low)), DType::I64, dtype);
  });
}

/// randint, randint_like, random: the positions of the bounds.
template <int Low, int High>
static LogicalResult integersBetween(LowerCall &c) {
  Dim low = Low < 0 ? Dim(0) : c.dimArg(Low), high = c.dimArg(High);
  if (low.isStatic() && high.isStatic())
    return integers(c, low.value(),
                    static_cast<uint64_t>(high.value()) -
                        static_cast<uint64_t>(low.value()));
  DType dtype = c.resultMeta(0).dtype;
  return drawResult(c, {}, [&](RandomBits &r, ValueRange) {
    Value n = r.below(c.sizeIn(r, high - low, DType::I64));
    return r.cast(r.add(n, c.sizeIn(r, low, DType::I64)), DType::I64, dtype);
  });
}

/// The largest integer that random() gives: floats have all up to it.
static int64_t largestOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return 1;
  case DType::U8:
    return UINT8_MAX;
  case DType::I8:
    return INT8_MAX;
  case DType::U16:
    return UINT16_MAX;
  case DType::I16:
    return INT16_MAX;
  case DType::U32:
    return UINT32_MAX;
  case DType::I32:
    return INT32_MAX;
  case DType::F64:
    return int64_t(1) << 53;
  case DType::F32:
    return int64_t(1) << 24;
  case DType::F16:
    return int64_t(1) << 11;
  case DType::BF16:
    return int64_t(1) << 8;
  default:
    return INT64_MAX;
  }
}

/// random: self; with `from`, and without `to`.
template <bool HasFrom>
static LogicalResult integersFrom(LowerCall &c) {
  if (HasFrom && !c.isNone(2))
    return integersBetween<1, 2>(c);
  int64_t low = HasFrom ? c.integer(1) : 0;
  auto high = static_cast<uint64_t>(largestOf(c.resultMeta(0).dtype));
  // From the smallest number to the largest, the range wraps to 0: 2^64.
  return integers(c, low, high - static_cast<uint64_t>(low) + 1);
}

/// randint_like with a bound that is a tensor: self, high
static LogicalResult integersBelowTensor(LowerCall &c) {
  LoweredTensor high = c.operand(1);
  DType dtype = c.resultMeta(0).dtype;
  if (high.rank() > 0)
    high = c.reshape(high, {});
  return drawResult(c, high, [&](RandomBits &r, ValueRange v) {
    Value range = r.cast(v[0], high.dtype, DType::I64);
    // ATen refuses what is not positive.
    range = r.maximum(range, r.one(range));
    return r.cast(r.below(range), DType::I64, dtype);
  });
}

/// randperm
static LogicalResult permutation(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  auto r = callRandomKernel(c, "random_permutation", {}, {}, dimsOf(meta),
                            DType::I64, 0);
  c.setResult(0, c.cast(r[0], meta.dtype));
  return success();
}

//===----------------------------------------------------------------------===//
// Normal numbers and their kin
//===----------------------------------------------------------------------===//

/// Of mean 0 and variance 1: that of a complex number is the sum of its
/// parts'.
static Value normalNumber(RandomBits &r, DType dtype) {
  auto [x, y] = r.normal(dtype);
  DType from = opmathType(dtype);
  if (!isComplex(from))
    return x;
  Value half = r.constant(x.getType(), std::sqrt(0.5));
  return complex::CreateOp::create(r.b, r.loc,
                                   computeType(r.b.getContext(), from),
                                   r.mul(x, half), r.mul(y, half));
}

/// randn, randn_like
/// Every element is at least 0 and at most `most`, and none is no number.
static void checkRange(LowerCall &c, LoweredTensor in,
                       std::optional<double> most, const char *message) {
  LoweredTensor misses =
      sumOf(c, in, allDims(in.rank()), false, DType::F64,
            [&](ScalarBuilder &s, Value x) {
              using Cmp = ScalarBuilder::Cmp;
              Value one = s.one(x), zero = s.zero(x);
              Value miss = s.select(s.cmp(Cmp::Ge, x, zero), zero, one);
              if (!most)
                return miss;
              Value most64 = s.constant(x.getType(), *most);
              return s.select(s.cmp(Cmp::Le, x, most64), miss, one);
            });
  c.checkValue(c.pointwise(misses, {}, DType::Bool,
                           [&](ScalarBuilder &s, ValueRange v) {
                             return s.cmp(ScalarBuilder::Cmp::Eq, v[0],
                                          s.zero(v[0]));
                           }),
               message);
}

static LogicalResult normalUnit(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype;
  return drawResult(c, {}, [&](RandomBits &r, ValueRange) {
    return r.cast(normalNumber(r, dtype), opmathType(dtype), dtype);
  });
}

/// normal: mean and std, each a tensor or a number, at these positions.
template <unsigned Mean, unsigned Std>
static LogicalResult normal(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype, work = opmathType(dtype);
  SmallVector<LoweredTensor> ins;
  bool isTensor[2] = {};
  for (unsigned i : {0U, 1U}) {
    unsigned arg = i ? Std : Mean;
    isTensor[i] = c.call().args[arg].kind == Arg::Tensor;
    if (isTensor[i])
      ins.push_back(c.operand(arg));
    if (isTensor[i] && i == 1)
      checkRange(c, ins.back(), std::nullopt,
                 "a standard deviation is negative");
  }
  return drawResult(c, ins, [&](RandomBits &r, ValueRange v) {
    Type type = computeType(r.b.getContext(), work);
    unsigned next = 0;
    Value parts[2];
    for (unsigned i : {0U, 1U}) {
      parts[i] = isTensor[i] ? r.cast(v[next], ins[next].dtype, work)
                             : r.constant(type, c.number(i ? Std : Mean));
      next += isTensor[i];
    }
    Value z = r.mul(normalNumber(r, dtype), parts[1]);
    return r.cast(r.add(z, parts[0]), work, dtype);
  });
}

/// A function of a number in (0, 1), in float64: the inverse of the
/// distribution's.
template <Value (*Inverse)(RandomBits &, LowerCall &, Value u)>
static LogicalResult inverted(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype;
  return drawResult(c, {}, [&](RandomBits &r, ValueRange) {
    return r.cast(Inverse(r, c, r.open()), DType::F64, dtype);
  });
}

/// exponential: self, lambd
static Value exponential(RandomBits &r, LowerCall &c, Value u) {
  return r.div(r.log(u), r.constant(u.getType(), -c.number(1)));
}

/// geometric: self, p. How many trials up to the first success.
static Value geometric(RandomBits &r, LowerCall &c, Value u) {
  Value n = r.div(r.log(u), r.constant(u.getType(), std::log1p(-c.number(1))));
  n = math::CeilOp::create(r.b, r.loc, n);
  return r.maximum(n, r.one(n));
}

/// cauchy: self, median, sigma
static Value cauchy(RandomBits &r, LowerCall &c, Value u) {
  Type type = u.getType();
  Value angle = r.mul(r.sub(u, r.constant(type, 0.5)), r.constant(type, M_PI));
  Value tan = math::TanOp::create(r.b, r.loc, angle);
  return r.add(r.mul(tan, r.constant(type, c.number(2))),
               r.constant(type, c.number(1)));
}

/// log_normal: self, mean, std
static LogicalResult logNormal(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype, work = opmathType(dtype);
  return drawResult(c, {}, [&](RandomBits &r, ValueRange) {
    Value z = r.normal(dtype)[0];
    z = r.add(r.mul(z, r.constant(z.getType(), c.number(2))),
              r.constant(z.getType(), c.number(1)));
    return r.cast(r.exp(z), work, dtype);
  });
}

/// A draw whose seed and offset are a value of the program.
static LogicalResult philoxKey(LowerCall &c) {
  c.setResult(0, drawKey(c));
  return success();
}

//===----------------------------------------------------------------------===//
// Chances and counts
//===----------------------------------------------------------------------===//

/// bernoulli: self, p
static LogicalResult bernoulliNumber(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype;
  return drawResult(c, {}, [&](RandomBits &r, ValueRange) {
    return r.cast(r.chance(c.number(1)), DType::Bool, dtype);
  });
}

/// bernoulli: the tensor of probabilities, at this position.
template <unsigned P>
static LogicalResult bernoulliTensor(LowerCall &c) {
  DType dtype = c.resultMeta(0).dtype;
  LoweredTensor p = c.operand(P);
  checkRange(c, p, 1, "a probability is not in [0, 1]");
  return drawResult(c, p, [&](RandomBits &r, ValueRange v) {
    Value hit = r.chance(r.cast(v[0], p.dtype, DType::F64));
    return r.cast(hit, DType::Bool, dtype);
  });
}

static LoweredTensor doubles(LowerCall &c, unsigned arg) {
  return c.toRowMajor(c.cast(c.operand(arg), DType::F64));
}

/// poisson: rates
static LogicalResult poisson(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  auto r = callRandomKernel(c, "random_poisson", doubles(c, 0), {},
                            dimsOf(meta), DType::F64, 0);
  c.setResult(0, c.cast(r[0], meta.dtype));
  return success();
}

/// Gamma numbers of these shapes and scale 1.
static LoweredTensor gammas(LowerCall &c) {
  return callRandomKernel(c, "random_gamma", doubles(c, 0), {},
                          dimsOf(c.resultMeta(0)), DType::F64, 0)[0];
}

static LogicalResult standardGamma(LowerCall &c) {
  c.setResult(0, c.cast(gammas(c), c.resultMeta(0).dtype));
  return success();
}

/// Gamma numbers over their sum along the last dim.
static LogicalResult dirichlet(LowerCall &c) {
  LoweredTensor g = gammas(c);
  if (g.rank() == 0)
    g = c.reshape(g, {1});
  LoweredTensor total = sumOf(c, g, g.rank() - 1, true, DType::F64);
  const TensorMeta &meta = c.resultMeta(0);
  LoweredTensor y = c.pointwise(
      {g, total}, g.dims(), meta.dtype, [&](ScalarBuilder &s, ValueRange v) {
        return s.cast(s.div(v[0], v[1]), DType::F64, meta.dtype);
      });
  c.setResult(0, c.reshape(y, dimsOf(meta)));
  return success();
}

/// binomial: counts, probabilities
static LogicalResult binomial(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  auto sizes = dimsOf(meta);
  LoweredTensor ins[] = {c.toRowMajor(c.expand(doubles(c, 0), sizes)),
                         c.toRowMajor(c.expand(doubles(c, 1), sizes))};
  auto r =
      callRandomKernel(c, "random_binomial", ins, {}, sizes, DType::F64, 0);
  c.setResult(0, c.cast(r[0], meta.dtype));
  return success();
}

/// multinomial: weights, num_samples, replacement
static LogicalResult multinomial(LowerCall &c) {
  LoweredTensor weights = doubles(c, 0);
  Dim n = weights.dims().back();
  auto r = callRandomKernel(c, "random_samples", weights, Arg::truth(c.flag(2)),
                            dimsOf(c.resultMeta(0)), DType::I64, 8 * n);
  c.setResult(0, r[0]);
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_philox_key.default", philoxKey),
    // The same with a key: these draw the same numbers again.
    anyShape("_philox_bernoulli.default", bernoulliTensor<1>),
    anyShape("_philox_binomial.default", binomial),
    anyShape("_philox_cauchy.default", inverted<cauchy>),
    anyShape("_philox_gamma.default", standardGamma),
    anyShape("_philox_geometric.default", inverted<geometric>),
    anyShape("_philox_multinomial.default", multinomial),
    anyShape("_philox_normal.default", normalUnit),
    anyShape("_philox_normals.Tensor_Tensor", normal<0, 1>),
    anyShape("_philox_normals.Tensor_float", normal<0, 1>),
    anyShape("_philox_normals.float_Tensor", normal<0, 1>),
    anyShape("_philox_poisson.default", poisson),
    anyShape("_philox_randint.Tensor", integersBelowTensor),
    anyShape("_philox_randint.default", integersBetween<0, 1>),
    anyShape("_philox_random.default", integersFrom<true>),
    anyShape("_philox_randperm.default", permutation),
    anyShape("_philox_uniform.default", uniformUnit),
    anyShape("_sample_dirichlet.default", dirichlet),
    anyShape("_standard_gamma.default", standardGamma),
    anyShape("bernoulli.Tensor", bernoulliTensor<1>),
    anyShape("bernoulli.default", bernoulliTensor<0>),
    anyShape("bernoulli.p", bernoulliNumber),
    anyShape("binomial.default", binomial),
    anyShape("cauchy.default", inverted<cauchy>),
    anyShape("exponential.default", inverted<exponential>),
    anyShape("geometric.default", inverted<geometric>),
    anyShape("log_normal.default", logNormal),
    anyShape("multinomial.default", multinomial),
    anyShape("normal.Tensor_Tensor", normal<0, 1>),
    anyShape("normal.Tensor_float", normal<0, 1>),
    anyShape("normal.float_Tensor", normal<0, 1>),
    anyShape("normal.float_float", normal<0, 1>),
    anyShape("normal_functional.default", normal<1, 2>),
    anyShape("poisson.default", poisson),
    anyShape("rand.default", uniformUnit),
    anyShape("rand_like.default", uniformUnit),
    anyShape("randint.default", integersBetween<-1, 0>),
    anyShape("randint.low", integersBetween<0, 1>),
    anyShape("randint_like.Tensor", integersBelowTensor),
    anyShape("randint_like.default", integersBetween<-1, 1>),
    anyShape("randint_like.low_dtype", integersBetween<1, 2>),
    anyShape("randn.default", normalUnit),
    anyShape("randn_like.default", normalUnit),
    anyShape("random.default", integersFrom<false>),
    anyShape("random.from", integersFrom<true>),
    anyShape("random.to", integersBetween<-1, 1>),
    anyShape("randperm.default", permutation),
    anyShape("uniform.default", uniformBetween),
};

ArrayRef<LowerRuleRow> randomLowerRules() {
  static const std::vector<LowerRuleRow> rows = [] {
    std::vector<LowerRuleRow> all(std::begin(kRows), std::end(kRows));
    llvm::append_range(all, dropoutLowerRules());
    return all;
  }();
  return rows;
}

} // namespace ft
