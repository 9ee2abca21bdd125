//===- Random.cpp - Random numbers that can be drawn again -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A random operator that is a formula of uniform or normal numbers becomes that
// formula. Its seed and offset are a value of the program, a few bytes, from
// which backward draws the same numbers once more:
//
//   %y = dropout(%x, 0.1, true)   →   %k = _philox_key()
//                                     %u = _philox_uniform(%k, [4, 8])
//                                     %m = lt(%u, 0.9)
//                                     %y = mul(mul(%x, %m), 1 / 0.9)
//
// Only _philox_key has an effect; the rest is pure, so that the partitioner may
// compute it again, and has the derivatives of its parts. The formulas are
// those of lower/rules/Random.cpp and Dropout.cpp, where the same operators are
// without a derivative. Integers, and what takes a loop for each element
// (poisson, multinomial, randperm), become the same operator with the key as an
// argument:
//
//   %i = multinomial(%w, 3, true) →   %k = _philox_key()
//                                     %i = _philox_multinomial(%w, 3, true, %k)

#include "compiler/autograd/DerivativeTable.h"

#include <cmath>

namespace ft {

static Term named(const Device &device) {
  return Term(Arg::ofDevice(device)).named("device");
}

/// The key of a draw, where the numbers are to be.
static Term newKey(RuleCall &c) {
  Term key = c.call("_philox_key", {});
  Device device = RuleCall::meta(c.result(0)).device;
  return device == RuleCall::meta(key).device
             ? key
             : c.call("_to_copy", {key, named(device)});
}

/// Numbers in [0, 1), or normal ones: as many as `sizes` says.
static Term drawn(RuleCall &c, llvm::StringRef name, const Dims &sizes,
                  DType dtype) {
  return c.call(name, {newKey(c), sizes, Term(dtype).named("dtype")});
}

static Term uniform(RuleCall &c, const Dims &sizes, DType dtype) {
  return drawn(c, "_philox_uniform", sizes, dtype);
}

/// Where nothing is drawn, calls are left as they are.
static bool leaves(RuleCall &c) {
  return RuleCall::meta(c.result(0)).numel().is(0);
}

/// a * x + b
static Term scaled(RuleCall &c, const Term &x, double a, double b) {
  return c.add(c.mul(x, a), b);
}

static std::vector<Term> unitUniform(RuleCall &c) {
  if (leaves(c))
    return {};
  TensorMeta result = RuleCall::meta(c.result(0));
  return {uniform(c, result.sizes, result.dtype)};
}

static std::vector<Term> uniformBetween(RuleCall &c) {
  if (leaves(c))
    return {};
  TensorMeta result = RuleCall::meta(c.result(0));
  double from = c.arg("from").number(), to = c.arg("to").number();
  Term u = c.mul(uniform(c, result.sizes, result.dtype), to - from);
  // Both parts of a complex number lie there.
  Term least =
      ft::isComplex(result.dtype) ? Term(Arg::complex(from, from)) : Term(from);
  return {c.add(u, least)};
}

static Term unitNormals(RuleCall &c) {
  TensorMeta result = RuleCall::meta(c.result(0));
  return drawn(c, "_philox_normal", result.sizes, result.dtype);
}

static std::vector<Term> unitNormal(RuleCall &c) {
  if (leaves(c))
    return {};
  return {unitNormals(c)};
}

static std::vector<Term> normalOf(RuleCall &c) {
  if (leaves(c))
    return {};
  return {
      scaled(c, unitNormals(c), c.arg("std").number(), c.arg("mean").number())};
}

static std::vector<Term> logNormal(RuleCall &c) {
  std::vector<Term> normal = normalOf(c);
  if (normal.empty())
    return {};
  return {c.call("exp", {normal.front()})};
}

/// -log(1 - u) / lambd, in float64 for the tail.
static std::vector<Term> exponential(RuleCall &c) {
  if (leaves(c))
    return {};
  TensorMeta result = RuleCall::meta(c.result(0));
  Term u = uniform(c, result.sizes, DType::F64);
  Term y = c.div(c.call("log1p", {c.neg(u)}), -c.arg("lambd").number());
  return {c.cast(y, result.dtype)};
}

/// True with probability p, for each element of a tensor of these sizes.
static Term chance(RuleCall &c, const Dims &sizes, double p) {
  return c.call("lt.Scalar", {uniform(c, sizes, DType::F32), p});
}

static std::vector<Term> bernoulli(RuleCall &c) {
  if (leaves(c))
    return {};
  TensorMeta result = RuleCall::meta(c.result(0));
  return {c.cast(chance(c, result.sizes, c.arg("p").number()), result.dtype)};
}

//===----------------------------------------------------------------------===//
// The same operator with a key
//===----------------------------------------------------------------------===//

/// Stands for a tensor of which only sizes and dtype count.
static Term emptyResult(RuleCall &c) {
  TensorMeta result = RuleCall::meta(c.result(0));
  return c.call(
      "empty.memory_format",
      {result.sizes, Term(result.dtype).named("dtype"), named(result.device)});
}

static std::vector<Term> bernoulliOf(RuleCall &c, const Term &p) {
  if (leaves(c))
    return {};
  return {c.call("_philox_bernoulli", {emptyResult(c), p, newKey(c)})};
}
static std::vector<Term> bernoulliTensor(RuleCall &c) {
  return bernoulliOf(c, c.arg("p"));
}
static std::vector<Term> bernoulliSelf(RuleCall &c) {
  return bernoulliOf(c, c.arg("self"));
}

static std::vector<Term> binomial(RuleCall &c) {
  if (leaves(c))
    return {};
  return {
      c.call("_philox_binomial", {c.arg("count"), c.arg("prob"), newKey(c)})};
}

static std::vector<Term> cauchy(RuleCall &c) {
  if (leaves(c))
    return {};
  return {c.call("_philox_cauchy",
                 {emptyResult(c), c.arg("median"), c.arg("sigma"), newKey(c)})};
}

static std::vector<Term> geometric(RuleCall &c) {
  if (leaves(c))
    return {};
  return {c.call("_philox_geometric", {emptyResult(c), c.arg("p"), newKey(c)})};
}

static std::vector<Term> multinomial(RuleCall &c) {
  if (leaves(c))
    return {};
  return {c.call("_philox_multinomial", {c.arg("self"), c.arg("num_samples"),
                                         c.arg("replacement"), newKey(c)})};
}

static std::vector<Term> normals(RuleCall &c) {
  if (leaves(c))
    return {};
  std::string name = "_philox_normals." + c.schema().overload.str();
  return {c.call(name, {c.arg("mean"), c.arg("std"), newKey(c)})};
}

static std::vector<Term> poisson(RuleCall &c) {
  if (leaves(c))
    return {};
  return {c.call("_philox_poisson", {c.arg("self"), newKey(c)})};
}

/// Gamma numbers follow their shapes: not where a gradient is to flow there.
static std::vector<Term> standardGamma(RuleCall &c) {
  if (leaves(c) || c.varies(c.arg("self")))
    return {};
  return {c.call("_philox_gamma", {c.arg("self"), newKey(c)})};
}

static std::vector<Term> dirichlet(RuleCall &c) {
  Term shape = c.arg("self");
  if (leaves(c) || c.varies(shape))
    return {};
  Term g = c.call("_philox_gamma", {c.cast(shape, DType::F64), newKey(c)});
  Term total = g;
  if (RuleCall::rank(shape) > 0)
    total = c.call("sum.dim_IntList", {g, -1, true});
  return {c.cast(c.div(g, total), RuleCall::dtype(shape))};
}

static std::vector<Term> integersBetween(RuleCall &c, const Term &low) {
  if (leaves(c))
    return {};
  TensorMeta result = RuleCall::meta(c.result(0));
  return {c.call("_philox_randint.default",
                 {low, c.arg("high"), result.sizes, newKey(c),
                  Term(result.dtype).named("dtype")})};
}
static std::vector<Term> integersBelow(RuleCall &c) {
  return integersBetween(c, 0);
}
static std::vector<Term> integersFromTo(RuleCall &c) {
  return integersBetween(c, c.arg("low"));
}
static std::vector<Term> integersBelowTensor(RuleCall &c) {
  if (leaves(c))
    return {};
  return {c.call("_philox_randint.Tensor",
                 {emptyResult(c), c.arg("high"), newKey(c)})};
}

/// random: all integers that the dtype has, from `from`, or below `to`.
static std::vector<Term> anyIntegers(RuleCall &c) {
  if (leaves(c))
    return {};
  auto given = [&](llvm::StringRef name, const Term &otherwise) {
    return c.schema().argIndex(name) < 0 ? otherwise : c.arg(name);
  };
  return {c.call("_philox_random", {emptyResult(c), given("from", 0),
                                    given("to", Term::none()), newKey(c)})};
}

static std::vector<Term> permutation(RuleCall &c) {
  if (leaves(c))
    return {};
  TensorMeta result = RuleCall::meta(c.result(0));
  return {c.call("_philox_randperm",
                 {c.arg("n"), newKey(c), Term(result.dtype).named("dtype")})};
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// What dropout computes of x, and its mask.
struct Dropped {
  Term result, mask;
};

/// x * mask / (1 - p). With p = 1 nothing is left, but NaN stays.
static Dropped dropped(RuleCall &c, const Term &x, const Dims &sizes,
                       double p) {
  if (p == 1)
    return {c.mul(x, 0),
            c.call("zeros", {sizes, Term(DType::Bool).named("dtype"),
                             named(RuleCall::meta(x).device)})};
  Term mask = chance(c, sizes, 1 - p);
  return {c.mul(c.mul(x, mask), 1 / (1 - p)), mask};
}

static Dims maskSizes(RuleCall &c, bool feature) {
  Dims sizes = RuleCall::sizes(c.arg("input"));
  if (feature)
    for (size_t d = 2; d < sizes.size(); ++d)
      sizes[d] = 1;
  return sizes;
}

template <bool Feature>
static std::vector<Term> dropout(RuleCall &c) {
  Term x = c.arg("input");
  double p = c.arg("p").number();
  if (!c.arg("train").truth() || p == 0)
    return {c.call("alias", {x})};
  if (leaves(c) && RuleCall::meta(x).numel().is(0))
    return {c.call("alias", {x})};
  return {dropped(c, x, maskSizes(c, Feature), p).result};
}

static std::vector<Term> nativeDropout(RuleCall &c) {
  Term train = c.arg("train"), x = c.arg("input");
  double p = c.arg("p").number();
  bool trains = train.isNone() || train.isZero() || train.truth();
  if (!trains || p == 0 || RuleCall::meta(x).numel().is(0))
    return {};
  Dropped y = dropped(c, x, RuleCall::sizes(x), p);
  return {y.result, y.mask};
}

/// Dropped elements become the value that selu has far below 0, and all is
/// scaled and shifted so that mean and variance stay (Klambauer et al., 2017).
template <bool Feature>
static std::vector<Term> alphaDropout(RuleCall &c) {
  Term x = c.arg("input");
  double p = c.arg("p").number();
  if (!c.arg("train").truth() || p == 0 || RuleCall::meta(x).numel().is(0))
    return {c.call("alias", {x})};
  if (p == 1)
    return {c.mul(x, 0)};
  constexpr double kAlpha = 1.7580993408473766;
  double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  double kept = kAlpha * a * p;
  Term mask =
      c.cast(chance(c, maskSizes(c, Feature), 1 - p), RuleCall::dtype(x));
  Term shift = scaled(c, mask, kAlpha * a, kept - kAlpha * a);
  return {c.add(c.mul(c.mul(x, mask), a), shift)};
}

//===----------------------------------------------------------------------===//
// rrelu
//===----------------------------------------------------------------------===//

/// x times the slopes, and these: 1 where x is positive.
static std::vector<Term> randomSlopes(RuleCall &c) {
  Term x = c.arg("self");
  TensorMeta meta = RuleCall::meta(x);
  double lower = c.arg("lower").number(), upper = c.arg("upper").number();
  Term slopes =
      scaled(c, uniform(c, meta.sizes, meta.dtype), upper - lower, lower);
  slopes = c.call("where", {c.call("gt.Scalar", {x, 0}),
                            c.call("ones_like", {slopes}), slopes});
  return {c.mul(x, slopes), slopes};
}

static std::vector<Term> rrelu(RuleCall &c) {
  double lower = c.arg("lower").number(), upper = c.arg("upper").number();
  if (!c.arg("training").truth())
    return {c.call("leaky_relu", {c.arg("self"), (lower + upper) / 2})};
  return {randomSlopes(c).front()};
}

static std::vector<Term> rreluWithNoise(RuleCall &c) {
  double lower = c.arg("lower").number(), upper = c.arg("upper").number();
  if (!c.arg("training").truth())
    return {c.call("leaky_relu", {c.arg("self"), (lower + upper) / 2}),
            c.call("alias", {c.arg("noise")})};
  return randomSlopes(c);
}

llvm::ArrayRef<ExpandRow> randomExpansions() {
  static const ExpandRow rows[] = {
      {"_sample_dirichlet.default", dirichlet},
      {"_standard_gamma.default", standardGamma},
      {"alpha_dropout.default", alphaDropout<false>},
      {"bernoulli.Tensor", bernoulliTensor},
      {"bernoulli.default", bernoulliSelf},
      {"bernoulli.p", bernoulli},
      {"binomial.default", binomial},
      {"cauchy.default", cauchy},
      {"dropout.default", dropout<false>},
      {"exponential.default", exponential},
      {"feature_alpha_dropout.default", alphaDropout<true>},
      {"feature_dropout.default", dropout<true>},
      {"geometric.default", geometric},
      {"log_normal.default", logNormal},
      {"multinomial.default", multinomial},
      {"native_dropout.default", nativeDropout},
      {"normal.Tensor_Tensor", normals},
      {"normal.Tensor_float", normals},
      {"normal.float_Tensor", normals},
      {"normal.float_float", normalOf},
      {"normal_functional.default", normalOf},
      {"poisson.default", poisson},
      {"rand.default", unitUniform},
      {"rand_like.default", unitUniform},
      {"randint.default", integersBelow},
      {"randint.low", integersFromTo},
      {"randint_like.Tensor", integersBelowTensor},
      {"randint_like.default", integersBelow},
      {"randint_like.low_dtype", integersFromTo},
      {"randn.default", unitNormal},
      {"randn_like.default", unitNormal},
      {"random.default", anyIntegers},
      {"random.from", anyIntegers},
      {"random.to", anyIntegers},
      {"randperm.default", permutation},
      {"rrelu.default", rrelu},
      {"rrelu_with_noise_functional.default", rreluWithNoise},
      {"uniform.default", uniformBetween},
  };
  return rows;
}

} // namespace ft
