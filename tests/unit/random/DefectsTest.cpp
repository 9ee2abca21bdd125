//===- DefectsTest.cpp - What random programs have found ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that the compiler once computed wrongly or did not survive, cut down by
// ft-random: each is compiled, run and compared with the interpreter.

#include "compiler/fake/StrideRules.h"
#include "tests/unit/random/OneCall.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::random;

static Tensor complexes(const Shape &shape,
                        std::initializer_list<interpreter::Complex> values) {
  Tensor tensor(DType::C128, shape);
  int64_t i = 0;
  for (interpreter::Complex value : values)
    tensor.setComplex(i++, value);
  return tensor;
}

static const Arg first = Arg::tensor(0), second = Arg::tensor(1);

TEST(Defects, ComplexNumbersThatAreOnlyMoved) {
  Tensor x = complexes({2}, {{1, 2}, {3, 4}});
  EXPECT_EQ(failureOf("dstack.default", {Arg::listOf({first, second})}, {x, x}),
            "");
}

TEST(Defects, BranchCutsFollowTheSignOfZero) {
  Tensor x = complexes({4}, {{2, 0.0}, {2, -0.0}, {-2, 0.0}, {-2, -0.0}});
  for (const char *name :
       {"asin.default", "acos.default", "atanh.default", "acosh.default"})
    EXPECT_EQ(failureOf(name, {first}, {x}), "") << name;
}

/// All pairs of zeros, ones, infinities and NaN.
static Tensor specialComplexes() {
  const double parts[] = {0, -0.0, 1, -2, kInf, -kInf, kNan, 0.5, -20};
  Tensor all(DType::C128, {81});
  for (int64_t i = 0; i < 81; ++i)
    all.setComplex(i, {parts[i / 9], parts[i % 9]});
  return all;
}

TEST(Defects, ComplexFunctionsOfInfinities) {
  Tensor x = specialComplexes();
  for (const char *name :
       {"abs",           "acos",  "acosh",  "asin",    "asinh", "atan", "atanh",
        "cos",           "cosh",  "exp",    "exp2",    "expm1", "log",  "log10",
        "reciprocal",    "rsqrt", "sgn",    "sigmoid", "silu",  "sin",  "sinh",
        "special_expit", "sqrt",  "square", "tan",     "tanh"})
    EXPECT_EQ(failureOf(std::string(name) + ".default", {first}, {x}), "")
        << name;
}

TEST(Defects, ComplexArithmeticOfInfinities) {
  Tensor all = specialComplexes(), x(DType::C128, {81, 1});
  for (int64_t i = 0; i < 81; ++i)
    x.set(i, all, i);
  for (const char *name : {"add.Tensor", "sub.Tensor", "mul.Tensor",
                           "div.Tensor", "pow.Tensor_Tensor", "ldexp.Tensor"})
    EXPECT_EQ(failureOf(name, {first, second}, {x, all}), "") << name;
  for (int64_t exponent : {-3, -2, -1, 0, 1, 2, 3}) {
    Arg number = Arg::integer(exponent);
    EXPECT_EQ(failureOf("pow.Tensor_Scalar", {first, number}, {all}), "")
        << exponent;
    EXPECT_EQ(failureOf("pow.Scalar", {number, first}, {all}), "") << exponent;
  }
}

TEST(Defects, GradientsOfComplexFunctionsAreConjugated) {
  Tensor g = complexes({2}, {{1, 2}, {3, -4}});
  Tensor y = complexes({2}, {{0.5, 0.25}, {-1, 2}});
  EXPECT_EQ(failureOf("tanh_backward.default", {first, second}, {g, y}), "");
  EXPECT_EQ(failureOf("sigmoid_backward.default", {first, second}, {g, y}), "");
}

TEST(Defects, DistanceBetweenComplexAndReal) {
  Tensor x = complexes({1}, {{1, 2}}), y = reals(DType::F64, {1}, {0.5});
  EXPECT_EQ(
      failureOf("dist.default", {first, second, Arg::floating(2)}, {y, x}), "");
}

TEST(Defects, InfinityDoesNotSpreadThroughResizing) {
  Tensor g = reals(DType::F32, {1, 1, 4}, {kInf, 1, 2, kNan});
  EXPECT_EQ(failureOf("upsample_nearest1d_backward.default",
                      {first, Arg::listOf({Arg::integer(4)}),
                       Arg::listOf({Arg::integer(1), Arg::integer(1),
                                    Arg::integer(2)})},
                      {g}),
            "");
}

TEST(Defects, PolynomialsOfInfinityAndNaN) {
  Tensor x = reals(DType::F32, {5}, {kInf, -kInf, kNan, 2, 0.5});
  for (double n : {0., 1., 2., 3., 9., -1., kInf, kNan})
    for (const char *name : {"special_chebyshev_polynomial_t.n_scalar",
                             "special_chebyshev_polynomial_w.n_scalar",
                             "special_shifted_chebyshev_polynomial_v.n_scalar"})
      EXPECT_EQ(failureOf(name, {first, Arg::floating(n)}, {x}), "")
          << name << ' ' << n;
}

TEST(Defects, GeluOfTheLargestNumbers) {
  Tensor x = reals(DType::F32, {4}, {kInf, -kInf, 3.4e38, -3.4e38});
  EXPECT_EQ(failureOf("gelu.default", {first}, {x}), "");
}

// PyTorch's kernels do not take integers either; the compiler says so.
TEST(Defects, FunctionsOfRealsDoNotTakeIntegers) {
  Tensor x(DType::I16, {3});
  for (const char *name : {"mish.default", "log_sigmoid_forward.default"})
    EXPECT_EQ(failureOf(name, {first}, {x}), "") << name;
  Tensor y = reals(DType::F32, {3}, {1, 2, 3});
  EXPECT_EQ(failureOf("norm.ScalarOpt_dtype",
                      {first, Arg::floating(2), Arg::ofDType(DType::I32)}, {y}),
            "refused");
}

TEST(Defects, NumbersAreSearchedInOneSequenceOnly) {
  Tensor x(DType::F32, {2, 3});
  EXPECT_EQ(failureOf("searchsorted.Scalar", {first, Arg::floating(0.1)}, {x}),
            "refused");
}

TEST(Defects, LogSoftmaxConvertsBeforeItComputes) {
  Tensor x = reals(DType::BF16, {2}, {-10, 1.8125});
  EXPECT_EQ(failureOf("special_log_softmax.default",
                      {first, Arg::integer(0), Arg::ofDType(DType::F64)}, {x}),
            "");
}

TEST(Defects, AiryFunctionOfInfinity) {
  Tensor x = reals(DType::F32, {3}, {kInf, -kInf, 0});
  EXPECT_EQ(failureOf("special_airy_ai.default", {first}, {x}), "");
}

static Arg ints(std::initializer_list<int64_t> values) {
  std::vector<Arg> list;
  for (int64_t value : values)
    list.push_back(Arg::integer(value));
  return Arg::listOf(std::move(list));
}

TEST(Defects, SumsOfSixteenBitsRoundTheirElementsFirst) {
  Tensor x(DType::I32, {3});
  int64_t i = 0;
  for (int64_t value : {70000, -70000, 3})
    x.setInteger(i++, value);
  Arg half = Arg::ofDType(DType::F16);
  for (const char *name : {"sum.default", "nansum.default", "mean.default",
                           "prod.default", "cumsum.default"}) {
    llvm::StringRef op(name);
    std::vector<Arg> args = {first};
    if (op.starts_with("cum"))
      args.push_back(Arg::integer(0));
    if (op.starts_with("nan"))
      args.insert(args.end(), {Arg::none(), Arg::truth(false)});
    args.push_back(half);
    EXPECT_EQ(failureOf(op, args, {x}), "") << name;
  }
}

TEST(Defects, AnInfiniteWeightScalesTheGradientOfABatchNormLast) {
  Tensor x = reals(DType::F32, {4, 2}, {6, 5, -2, 1, -14, -15, 0, -1});
  Tensor weight = reals(DType::F32, {2}, {1, kInf}),
         mean = reals(DType::F32, {2}, {-2.5, -2.5}),
         rstd = reals(DType::F32, {2}, {0.125, 0.125});
  EXPECT_EQ(failureOf("native_batch_norm_backward.default",
                      {first, second, Arg::tensor(2), Arg::none(), Arg::none(),
                       Arg::tensor(3), Arg::tensor(4), Arg::truth(true),
                       Arg::floating(1e-5),
                       Arg::listOf(std::vector<Arg>(3, Arg::truth(true)))},
                      {x, x, weight, mean, rstd}),
            "");
}

TEST(Defects, PowersOfNegativeZero) {
  Tensor x = reals(DType::BF16, {1}, {-0.0}),
         e = reals(DType::BF16, {1}, {-.5});
  // As the square root's reciprocal only where the exponent is a number.
  EXPECT_EQ(valuesOf("float_power.Tensor_Tensor", {first, second}, {x, e}),
            std::vector<double>({kInf}));
  EXPECT_EQ(
      valuesOf("float_power.Tensor_Scalar", {first, Arg::floating(-0.5)}, {x}),
      std::vector<double>({-kInf}));
}

TEST(Defects, GradientsOfNaN) {
  Tensor g = reals(DType::F32, {2}, {kNan, kInf});
  Tensor x = reals(DType::F32, {2}, {kNan, -kInf});
  std::vector<double> y =
      valuesOf("hardswish_backward.default", {first, second}, {g, x});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 0);
}

TEST(Defects, ThresholdIsComparedBeforeTheDtypeIsThatOfTheGradient) {
  Tensor g(DType::U8, {1}), x(DType::I32, {1});
  g.setInteger(0, 5);
  x.setInteger(0, -192);
  EXPECT_EQ(valuesOf("threshold_backward.default",
                     {first, second, Arg::integer(0)}, {g, x}),
            std::vector<double>({0}));
}

TEST(Defects, ChebyshevPolynomialsAreExactAtZero) {
  Tensor x = reals(DType::F64, {3}, {0, 0.5, -1});
  EXPECT_EQ(valuesOf("special_chebyshev_polynomial_u.n_scalar",
                     {first, Arg::integer(5)}, {x}),
            std::vector<double>({0, 0, -6}));
}

TEST(Defects, NaNAmongTheTestElements) {
  Tensor x = reals(DType::F32, {3}, {kNan, 16, 3});
  EXPECT_EQ(valuesOf("isin.Tensor_Tensor", {first, second}, {x, x}),
            std::vector<double>({0, 1, 1}));
}

TEST(Defects, TheEpsilonOfRmsNormIsThatOfFloat32) {
  Tensor x = reals(DType::BF16, {1, 2}, {1e-3, 1e-3});
  std::vector<double> y = valuesOf("rms_norm.default", {first, ints({2})}, {x});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_NEAR(y[0], 0.945, 4e-3);
}

TEST(Defects, RowsOfNoElements) {
  Tensor x(DType::F32, {2, 0});
  EXPECT_EQ(valuesOf("native_layer_norm.default",
                     {first, ints({0}), Arg::none(), Arg::none(),
                      Arg::floating(1e-5)},
                     {x}, 1),
            std::vector<double>({0, 0}));
}

// Infinity times a weight of 0 is NaN, where a sum of weights would hide it.
TEST(Defects, InfinityAtTheBorderOfAnImage) {
  Tensor x = reals(DType::F32, {1, 1, 3}, {1, kInf, 4});
  for (const char *name :
       {"upsample_linear1d.default", "upsample_linear1d_backward.default"}) {
    std::vector<Arg> args = {first, ints({3})};
    if (llvm::StringRef(name).contains("backward"))
      args.push_back(ints({1, 1, 3}));
    args.push_back(Arg::truth(false));
    std::vector<double> y = valuesOf(name, args, {x});
    ASSERT_EQ(y.size(), 3u) << name;
    EXPECT_EQ(y[0], 1) << name;
    EXPECT_TRUE(std::isnan(y[1])) << name;
  }
}

TEST(Defects, InPlaceFormsAreTheirFunctionalOnes) {
  Tensor x = reals(DType::F32, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(valuesOf("tril_.default", {first}, {x}),
            std::vector<double>({1, 0, 3, 4}));
  EXPECT_EQ(valuesOf("cumprod_.default", {first, Arg::integer(1)}, {x}),
            std::vector<double>({1, 2, 3, 12}));
}

TEST(Defects, ThePolesOfTheArcTangent) {
  Tensor x = complexes({2}, {{0, 1}, {0, -1}});
  EXPECT_EQ(failureOf("atan.default", {first}, {x}), "");
}

TEST(Defects, TheNormOfOrderZeroCountsNaN) {
  Tensor x = reals(DType::F32, {4}, {kNan, 0, 2, kInf});
  EXPECT_EQ(
      valuesOf("linalg_vector_norm.default", {first, Arg::integer(0)}, {x}),
      std::vector<double>({3}));
}

TEST(Defects, EndsOfIntegersAreCutFirst) {
  std::vector<Arg> args = {Arg::floating(-0.75), Arg::integer(4),
                           Arg::integer(4), Arg::ofDType(DType::I64)};
  EXPECT_EQ(valuesOf("linspace.default", args, {}),
            std::vector<double>({0, 1, 2, 4}));
}

// PyTorch: 0.515625 and -7.73046875.
TEST(Defects, WideScalarsBesideSixteenBitFloats) {
  Tensor x = reals(DType::BF16, {1}, {-1.5});
  Tensor s = reals(DType::F64, {}, {2.0118261713119625});
  EXPECT_EQ(valuesOf("add.Tensor", {first, second}, {x, s}),
            std::vector<double>({0.515625}));
  Tensor y = reals(DType::F16, {1}, {2.10742188});
  Tensor t = reals(DType::F32, {}, {-3.66897488});
  EXPECT_EQ(valuesOf("mul.Tensor", {first, second}, {y, t}),
            std::vector<double>({-7.73046875}));
}

TEST(Defects, MultiplesOfSmallIntegersAreTakenAsWideOnes) {
  Tensor x(DType::I8, {3}), y(DType::I8, {3});
  int64_t i = 0;
  for (auto [a, b] :
       {std::pair(-2, 127), std::pair(-128, 6), std::pair(4, 6)}) {
    x.setInteger(i, a);
    y.setInteger(i++, b);
  }
  EXPECT_EQ(valuesOf("lcm.default", {first, second}, {x, y}),
            std::vector<double>({-2, -128, 12}));
  EXPECT_EQ(valuesOf("gcd.default", {first, second}, {x, y}),
            std::vector<double>({1, -2, 2}));
}

TEST(Defects, AnInfiniteTargetTimesADifferenceOfZero) {
  Tensor x = reals(DType::F32, {2}, {95, -1});
  EXPECT_EQ(failureOf("kl_div.default",
                      {first, second, Arg::integer(0), Arg::truth(true)},
                      {x, x}),
            "");
}

TEST(Defects, ComplexLogarithmsBesideThePole) {
  Tensor x = complexes({4}, {{-1, 1e-6}, {-1, 0}, {1e-9, -1e-9}, {-2, -0.0}});
  EXPECT_EQ(failureOf("log1p.default", {first}, {x}), "");
}

TEST(Defects, OneGradientForAllOfAGate) {
  Tensor x = reals(DType::F32, {2, 2}, {1, 2, -1, 0.5}),
         g = reals(DType::F32, {}, {3});
  EXPECT_EQ(failureOf("glu_backward.default", {first, second, Arg::integer(1)},
                      {g, x}),
            "");
}

TEST(Defects, BoundsOfALogit) {
  Tensor x = reals(DType::F32, {4}, {-1, 0, 1, 2});
  EXPECT_EQ(valuesOf("logit.default", {first, Arg::floating(1)}, {x}),
            std::vector<double>({kInf, kInf, -kInf, -kInf}));
  // A negative eps bounds nothing.
  std::vector<Arg> args = {first, Arg::floating(-0.75)};
  EXPECT_EQ(failureOf("logit.default", args, {x}), "");
  args.insert(args.begin(), first);
  args[1] = second;
  EXPECT_EQ(failureOf("logit_backward.default", args, {x, x}), "");
}

TEST(Defects, ClosenessOfIntegersAndComplexNumbers) {
  Tensor x(DType::U8, {3}), y(DType::U8, {3});
  int64_t i = 0;
  for (auto [a, b] :
       {std::pair(0, 255), std::pair(100, 127), std::pair(3, 4)}) {
    x.setInteger(i, a);
    y.setInteger(i++, b);
  }
  std::vector<Arg> args = {first, second, Arg::floating(0.1), Arg::floating(2)};
  EXPECT_EQ(valuesOf("isclose.default", args, {x, y}),
            std::vector<double>({0, 0, 1}));
  Tensor u = complexes({4}, {{1, 2}, {kInf, 1}, {1, 2}, {kNan, 1}}),
         v = complexes({4}, {{1, 4}, {kInf, 1}, {4, 2}, {kNan, 1}});
  EXPECT_EQ(valuesOf("isclose.default", args, {u, v}),
            std::vector<double>({1, 1, 0, 0}));
}

TEST(Defects, NumbersBesideSixteenBitFloats) {
  // 0.1 is 0.0999755859375 as a float16.
  Tensor x = reals(DType::F16, {1}, {0.0999755859375});
  Arg tenth = Arg::floating(0.1);
  for (const char *name : {"fmod.Scalar", "remainder.Scalar", "sub.Scalar"})
    EXPECT_EQ(valuesOf(name, {first, tenth}, {x}), std::vector<double>({0}))
        << name;
  EXPECT_EQ(valuesOf("floor_divide.Scalar", {first, tenth}, {x}),
            std::vector<double>({0}));
}

TEST(Defects, ABoolIsPaddedWithWhatIsNotZero) {
  Tensor x(DType::Bool, {1});
  std::vector<Arg> args = {first, ints({1, 0}), Arg::string("constant"),
                           Arg::floating(0.1)};
  EXPECT_EQ(valuesOf("pad.default", args, {x}), std::vector<double>({1, 0}));
}

TEST(Defects, TheRootsOfTheLogarithmOfGamma) {
  Tensor x = reals(DType::F32, {2}, {1, 2});
  EXPECT_EQ(valuesOf("lgamma.default", {first}, {x}),
            std::vector<double>({0, 0}));
}

TEST(Defects, AScalarWeightMayBeComplex) {
  Tensor x(DType::I64, {}), y(DType::I64, {});
  y.setInteger(0, 3);
  Program program = callOf("lerp.Tensor", {first, second, Arg::tensor(2)},
                           {x, y, complexes({}, {{0.5, -1}}).reshaped({})});
  EXPECT_EQ(Trial().tryOne(program), "");
  EXPECT_EQ(program.values.back().meta.dtype, DType::C128);
}

TEST(Defects, ThePoleOfTheComplexLogarithm) {
  Tensor x = complexes({2}, {{-1, 0.0}, {-1, 1.5}});
  EXPECT_EQ(failureOf("log1p.default", {first}, {x}), "");
}

TEST(Defects, AnUnsignedClampHasNoNegativeBounds) {
  Tensor x(DType::U8, {1});
  EXPECT_EQ(failureOf("hardtanh.default",
                      {first, Arg::integer(-2), Arg::integer(3)}, {x}),
            "refused");
}

TEST(Defects, TheGradientKeepsAllItsDigits) {
  Tensor g(DType::I32, {1});
  g.setInteger(0, 1387432094);
  EXPECT_EQ(valuesOf("threshold_backward.default",
                     {first, second, Arg::floating(-1.25)}, {g, g}),
            std::vector<double>({1387432094}));
}

TEST(Defects, ThresholdWrapsToTheDtype) {
  Tensor g(DType::U8, {2}), x(DType::U8, {2});
  for (int64_t i = 0; i < 2; ++i)
    g.setInteger(i, 1);
  x.setInteger(0, 254);
  x.setInteger(1, 255);
  EXPECT_EQ(valuesOf("threshold_backward.default",
                     {first, second, Arg::integer(-2)}, {g, x}),
            std::vector<double>({0, 1}));
}

TEST(Defects, WeightsOfALossMayHaveMoreDims) {
  Tensor x = reals(DType::F32, {2}, {1, -1}), w(DType::F32, {3, 2});
  Arg none;
  EXPECT_EQ(failureOf("binary_cross_entropy_with_logits.default",
                      {first, second, Arg::tensor(2), none, Arg::integer(0)},
                      {x, x, w}),
            "");
}

TEST(Defects, TheSixthIsAFloat32) {
  Tensor x = reals(DType::F64, {1}, {0.5});
  EXPECT_EQ(failureOf("hardsigmoid_backward.default", {first, second}, {x, x}),
            "");
}

TEST(Defects, RunningLogarithmsOfComplexNumbers) {
  Tensor x = complexes({3}, {{1, 2}, {3, -1}, {-2, 0.5}});
  EXPECT_EQ(failureOf("logcumsumexp.default", {first, Arg::integer(0)}, {x}),
            "");
}

TEST(Defects, TransformsOfRealSignals) {
  Tensor x = reals(DType::F64, {4}, {1, 2, 3, 4});
  std::vector<double> y =
      valuesOf("fft_hfft.default", {first, Arg::integer(4)}, {x});
  std::vector<double> want = {8, -2, 0, -2};
  ASSERT_EQ(y.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(y[i], want[i], 1e-12);
}

TEST(Defects, InverseFunctionsOfComplexNumbersDoNotCancel) {
  Tensor z = complexes({1}, {{-1.4660845994949341, 19.681526184082031}});
  for (llvm::StringRef name : {"asinh.default", "asin.default", "acos.default",
                               "acosh.default", "atanh.default"})
    EXPECT_EQ(failureOf(name, {first}, {z}), "") << name.str();
  std::vector<double> y = valuesOf("asinh.default", {first}, {z});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_NEAR(y[0], -3.6749590223789097, 1e-14);
}

TEST(Defects, RunningSumsOfTruthsCountWhatIsNotZero) {
  Tensor x = reals(DType::F32, {3}, {0, 0.75, 0});
  EXPECT_EQ(valuesOf("cumsum.default",
                     {first, Arg::integer(0), Arg::ofDType(DType::Bool)}, {x}),
            std::vector<double>({0, 1, 1}));
}

TEST(Defects, SoftmaxConvertsBeforeItComputes) {
  Tensor x = reals(DType::F64, {2}, {1e9, 2e9}); // infinite as float16
  std::vector<double> y = valuesOf(
      "softmax.int", {first, Arg::integer(0), Arg::ofDType(DType::F16)}, {x});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
}

TEST(Defects, AnInfiniteGradientIsNotTakenBackFromItself) {
  Tensor x = reals(DType::F32, {3}, {-1.5625, -0.125, 2.875});
  Tensor g = reals(DType::F32, {3}, {-2, kInf, 1.25});
  Tensor mean = reals(DType::F32, {1}, {0.40625});
  Tensor rstd = reals(DType::F32, {1}, {0.5});
  std::vector<Arg> args = {
      first,          second,
      ints({3}),      Arg::tensor(2),
      Arg::tensor(3), Arg::tensor(4),
      Arg::tensor(5), Arg::listOf(std::vector<Arg>(3, Arg::truth(true)))};
  std::vector<Tensor> tensors = {g, x, mean, rstd, x, x};
  EXPECT_EQ(failureOf("native_layer_norm_backward.default", args, tensors), "");
  std::vector<double> dx =
      valuesOf("native_layer_norm_backward.default", args, tensors);
  ASSERT_EQ(dx.size(), 3u);
  EXPECT_EQ(dx[0], kInf);
  EXPECT_TRUE(std::isnan(dx[1]) && std::isnan(dx[2]));
}

TEST(Defects, ComplexNumbersThatAreNoNumbersAreLeftOut) {
  Tensor x = reals(DType::F64, {3}, {-kInf, kNan, 2});
  EXPECT_EQ(
      failureOf("nansum.default",
                {first, ints({0}), Arg::truth(false), Arg::ofDType(DType::C64)},
                {x}),
      "");
}

TEST(Defects, AGridsGradientGoesToThePixelsReadAlone) {
  Tensor g = reals(DType::F32, {1, 1, 1, 2}, {kNan, 1});
  Tensor x = reals(DType::F32, {1, 1, 1, 4}, {1, 2, 3, 4});
  Tensor grid = reals(DType::F32, {1, 1, 2, 2}, {-0.75, 0, 0.5, 0});
  std::vector<Arg> args = {first,
                           second,
                           Arg::tensor(2),
                           Arg::integer(1),
                           Arg::integer(0),
                           Arg::truth(false),
                           Arg::listOf({Arg::truth(true), Arg::truth(true)})};
  Program program =
      callOf("grid_sampler_2d_backward.default", args, {g, x, grid});
  ASSERT_FALSE(program.steps.empty());
  std::vector<double> dx =
      valuesOf("grid_sampler_2d_backward.default", args, {g, x, grid});
  ASSERT_EQ(dx.size(), 4u);
  EXPECT_TRUE(std::isnan(dx[0]));
  EXPECT_EQ(dx[1], 0);
  EXPECT_EQ(dx[2], 1);
}

TEST(Defects, TheMiddleOfAnAffineGridIsZero) {
  Tensor g(DType::F64, {1, 1, 7, 2});
  g.setReal(6, kInf);
  std::vector<double> theta =
      valuesOf("affine_grid_generator_backward.default",
               {first, ints({1, 1, 1, 7}), Arg::truth(false)}, {g});
  ASSERT_EQ(theta.size(), 6u);
  EXPECT_TRUE(std::isnan(theta[0]));
  EXPECT_EQ(theta[2], kInf);
}

TEST(Defects, AnInfiniteValueAmongUnevenPointsGivesAnInfiniteSlope) {
  Tensor y = reals(DType::F32, {3}, {0, -kInf, 1});
  Tensor at = reals(DType::F32, {3}, {0, 2, 3});
  std::vector<double> slope =
      valuesOf("gradient.tensorarray",
               {first, Arg::listOf({second}), ints({0})}, {y, at});
  ASSERT_EQ(slope.size(), 3u);
  EXPECT_EQ(slope[1], kInf);
}

TEST(Defects, StridesSayWhatAReshapedAliasReads) {
  Tensor x = reals(DType::F32, {6}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(valuesOf("_reshape_alias_copy.default",
                     {first, ints({2, 3}), ints({1, 2})}, {x}),
            std::vector<double>({0, 2, 4, 1, 3, 5}));
}

TEST(Defects, SquaresUnderARootDoNotOverflow) {
  Tensor x = reals(DType::F32, {4}, {1e29, -2e29, 3e29, 0});
  std::vector<double> deviation = valuesOf("std.default", {first}, {x});
  ASSERT_EQ(deviation.size(), 1u);
  EXPECT_NEAR(deviation[0], 2.0816660e29, 1e24);
}

TEST(Defects, ComplexFrequencies) {
  EXPECT_EQ(
      failureOf("fft_rfftfreq.default",
                {Arg::integer(4), Arg::floating(0.5), Arg::ofDType(DType::C64)},
                {}),
      "");
}

TEST(Defects, AnInfiniteRangeHasNoBins) {
  Tensor x = reals(DType::F32, {3}, {1, kInf, 2});
  std::string failure =
      failureOf("histc.default", {first, Arg::integer(2)}, {x});
  EXPECT_NE(failure.find("not finite"), std::string::npos) << failure;
}

TEST(Defects, OutputPaddingOfAWholeStride) {
  Tensor x = reals(DType::F32, {1, 1, 3}, {1, 2, 3});
  Tensor w = reals(DType::F32, {1, 1, 2}, {1, -1});
  Tensor g = reals(DType::F32, {1, 1, 6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(
      failureOf("convolution_backward.default",
                {first, second, Arg::tensor(2), ints({1}), ints({1}), ints({0}),
                 ints({2}), Arg::truth(true), ints({1}), Arg::integer(1),
                 Arg::listOf(std::vector<Arg>(3, Arg::truth(true)))},
                {g, x, w}),
      "");
}

TEST(Defects, MarginsPassOverNaN) {
  Tensor x = reals(DType::F64, {3}, {2, kNan, -1}), target(DType::I64, {});
  EXPECT_EQ(
      failureOf("multi_margin_loss.default", {first, second}, {x, target}), "");
  Tensor targets(DType::I64, {3});
  targets.setInteger(1, -1);
  EXPECT_EQ(failureOf("multilabel_margin_loss.default", {first, second},
                      {x, targets}),
            "");
}

TEST(Defects, InnerProductsWithAScalar) {
  Tensor x = complexes({2}, {{1, 2}, {3, -1}}), y = complexes({}, {{1, -1}});
  EXPECT_EQ(failureOf("inner.default", {first, second}, {x, y}), "");
  Tensor m = reals(DType::F32, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(failureOf("inner.default", {first, second},
                      {m, reals(DType::F32, {}, {2})}),
            "");
}

TEST(Defects, TheFusedGeluIsExact) {
  Tensor self = reals(DType::F64, {1}, {0}), a = reals(DType::F64, {1, 1}, {1});
  EXPECT_EQ(failureOf("_addmm_activation.default",
                      {first, second, Arg::tensor(2), Arg::integer(1),
                       Arg::integer(1), Arg::truth(true)},
                      {self, a, a}),
            "");
}

TEST(Defects, BatchNormOfNoStatisticsIsRefused) {
  Tensor x = reals(DType::F32, {2, 1}, {1, 2});
  // What is refused by name is no failure, a crash is.
  EXPECT_EQ(failureOf("_batch_norm_no_update.default",
                      {first, Arg::none(), Arg::none(), Arg::none(),
                       Arg::none(), Arg::floating(0.1), Arg::floating(1e-5)},
                      {x}),
            "");
}

TEST(Defects, OneIsNothingBesideALargeNumber) {
  Tensor x = reals(DType::F64, {2}, {0x1p55, 1e300});
  std::vector<double> y =
      valuesOf("special_polygamma.default", {Arg::integer(1), first}, {x});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_NEAR(y[0], 0x1p-55, 0x1p-100);
  EXPECT_NEAR(y[1], 1e-300, 1e-310);
}

TEST(Defects, DistancesToANanHaveAGradientOfNan) {
  Tensor x = reals(DType::F32, {3, 2}, {0, kNan, 0, -0.5, 2, -2.5});
  Tensor grad = reals(DType::F32, {3}, {-1.75, 2.75, -kInf}),
         distances = reals(DType::F32, {3}, {kNan, kNan, 2});
  for (double p : {0., 0.5, 1., 1.5, 2., 3., kInf})
    EXPECT_EQ(failureOf("_pdist_backward.default",
                        {first, second, Arg::floating(p), Arg::tensor(2)},
                        {grad, x, distances}),
              "")
        << p;
}

TEST(Defects, NormsOfWeightsDoNotShareTheMemoryOfAnExpandedLength) {
  const Schema &schema =
      *SchemaTable::get().find("_weight_norm_interface.default");
  TensorMeta v = TensorMeta::contiguous(DType::F32, {25, 6}),
             g = TensorMeta::contiguous(DType::F32, {25, 1});
  g.strides = {0, 1};
  std::vector<Arg> args = {first, second, Arg::integer(0)};
  std::vector<TensorMeta> metas = {v, g};
  FakeCall call(schema, args, metas);
  ASSERT_TRUE(llvm::succeeded(propagateCall(call)));
  EXPECT_FALSE(overlapsItself(call.results[1].meta));
}

TEST(Defects, TheMathFormOfAttentionAddsAMaskOfBooleans) {
  Tensor q = reals(DType::F32, {1, 1, 2, 2}, {1, -2, 0.5, 3});
  Tensor mask(DType::Bool, {2, 2});
  mask.setInteger(1, 1);
  EXPECT_EQ(failureOf("_scaled_dot_product_attention_math.default",
                      {first, second, Arg::tensor(2), Arg::tensor(3)},
                      {q, q, q, mask}),
            "");
}

TEST(Defects, LogarithmsOfRowsWithInfiniteScores) {
  Tensor q = reals(DType::F32, {1, 1, 3, 1}, {1, -1, 0.5}),
         k = reals(DType::F32, {1, 1, 1, 1}, {-kInf});
  EXPECT_EQ(failureOf("_scaled_dot_product_flash_attention_for_cpu.default",
                      {first, second, Arg::tensor(2)}, {q, k, k}),
            "");
}

TEST(Defects, AnInfiniteGradientDoesNotReachTheZeroPointOfWhatIsRounded) {
  Tensor grad = reals(DType::F32, {2, 3}, {kInf, 1, 2, kNan, -kInf, 1}),
         x = reals(DType::F32, {2, 3}, {0, 100, 0.3, 0.25, 100, -100}),
         scale = reals(DType::F32, {2}, {0.5, 0.25}),
         zero = reals(DType::F32, {2}, {1, 2});
  EXPECT_EQ(
      failureOf("_fake_quantize_learnable_per_channel_affine_backward.default",
                {first, second, Arg::tensor(2), Arg::tensor(3), Arg::integer(0),
                 Arg::integer(-8), Arg::integer(11)},
                {grad, x, scale, zero}),
      "");
}

TEST(Defects, NanIsNoOneDifference) {
  Tensor x = reals(DType::F32, {2, 2}, {0, kNan, 0, 0.5});
  for (double p : {0., 1., 2., 3., kInf})
    EXPECT_EQ(failureOf("pdist.default", {first, Arg::floating(p)}, {x}), "")
        << p;
}

TEST(Defects, BoundsOfALogitAreOfItsDType) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32})
    EXPECT_EQ(failureOf("special_logit.default", {first, Arg::floating(1e-5)},
                        {reals(dtype, {4}, {2, -0.5, 1, 0.25})}),
              "");
}

TEST(Defects, TrigammaVanishesAtInfinity) {
  Tensor x = reals(DType::F32, {3}, {kInf, 2, -0.5});
  EXPECT_EQ(valuesOf("polygamma.default", {Arg::integer(1), first}, {x})[0], 0);
  EXPECT_EQ(failureOf("polygamma.default", {Arg::integer(1), first}, {x}), "");
}

TEST(Defects, ASumToNoDimsIsASum) {
  Tensor x(DType::I8, {});
  x.setInteger(0, 3);
  EXPECT_EQ(failureOf("sum_to_size.default", {first, Arg::listOf({})}, {x}),
            "");
}

TEST(Defects, WhatIsSummedIsFirstOfTheDTypeAskedFor) {
  Tensor x = reals(DType::F32, {3}, {1e6, -1e6, 1});
  std::vector<Arg> args = {first, Arg::ofDType(DType::F16)};
  for (llvm::StringRef name : {"sum.default", "prod.default", "mean.default"})
    EXPECT_EQ(failureOf(name, args, {x}), "") << name.str();
  for (llvm::StringRef name : {"cumsum.default", "cumprod.default"})
    EXPECT_EQ(failureOf(name,
                        {first, Arg::integer(0), Arg::ofDType(DType::F16)},
                        {x}),
              "")
        << name.str();
}

TEST(Defects, AnInfiniteWeightOfBatchNormIsAFactor) {
  Tensor x = reals(DType::F32, {4, 2},
                   {6, 5.75, -2, 1.75, -14.75, -15.5, -1, 3}),
         weight = reals(DType::F32, {2}, {2, kInf}),
         mean = reals(DType::F32, {2}, {-2.9375, -1.25}),
         rstd = reals(DType::F32, {2}, {0.125, 0.125});
  EXPECT_EQ(failureOf("native_batch_norm_backward.default",
                      {first, second, Arg::tensor(2), Arg::none(), Arg::none(),
                       Arg::tensor(3), Arg::tensor(4), Arg::truth(true),
                       Arg::floating(1e-5),
                       Arg::listOf({Arg::truth(true), Arg::truth(true),
                                    Arg::truth(true)})},
                      {x, x, weight, mean, rstd}),
            "");
}

TEST(Defects, TheSignOfAnIntegerIsCopied) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64})
    for (DType whole : {DType::I8, DType::I16, DType::I32, DType::I64})
      for (bool scalar : {true, false}) {
        Shape shape = scalar ? Shape{} : Shape{3};
        Tensor x = reals(dtype, shape, {2.5}), sign(whole, shape);
        sign.setInteger(0, -1);
        EXPECT_EQ(failureOf("copysign.Tensor", {first, second}, {x, sign}), "")
            << dtypeName(dtype).str() << ' ' << dtypeName(whole).str() << ' '
            << scalar;
      }
}

TEST(Defects, AMaskedIndexFillsBoolWithTrue) {
  Tensor x(DType::Bool, {1}), mask(DType::Bool, {2}), at(DType::I64, {2});
  mask.setInteger(0, 1);
  EXPECT_EQ(
      valuesOf("_unsafe_masked_index.default",
               {first, second, Arg::listOf({Arg::tensor(2)}), Arg::integer(-2)},
               {x, mask, at}),
      std::vector<double>({0, 1}));
}

TEST(Defects, ARangeOfIntegersIsOfNumbersThatAreCut) {
  std::vector<Arg> args = {Arg::floating(-2.75), Arg::floating(4),
                           Arg::floating(1.5), Arg::ofDType(DType::I64)};
  EXPECT_EQ(valuesOf("range.step", args, {}),
            std::vector<double>({-2, -1, 0, 1, 2, 3, 4}));
}

TEST(Defects, BytesAreViewedAsTruthValues) {
  Tensor bytes(DType::U8, {3}), truths(DType::Bool, {2});
  bytes.setInteger(1, 2);
  bytes.setInteger(2, 255);
  truths.setInteger(1, 1);
  EXPECT_EQ(valuesOf("view.dtype", {first, Arg::ofDType(DType::Bool)}, {bytes}),
            std::vector<double>({0, 1, 1}));
  EXPECT_EQ(
      valuesOf("view_copy.dtype", {first, Arg::ofDType(DType::I8)}, {truths}),
      std::vector<double>({0, 1}));
}

// The sums of a group norm's weight, each found by a division of what was read
// from memory: not before it has been read.
TEST(Defects, SumsAtPlacesThatMemorySays) {
  Tensor x(DType::F64, {1, 9, 4}), mask(DType::Bool, {9});
  for (int64_t i = 0; i < 36; ++i)
    x.setReal(i, double(i % 7) - 3);
  for (int64_t i : {0, 1, 4, 7})
    mask.setInteger(i, 1);
  Tensor mean = reals(DType::F64, {1, 3}, {0.25, 0.5, -0.25}),
         rstd = reals(DType::F64, {1, 3}, {0.5, 0.25, 2});
  Arg yes = Arg::truth(true);
  Program program =
      callOf("native_group_norm_backward.default",
             {first, second, Arg::tensor(2), Arg::tensor(3), Arg::none(),
              Arg::integer(1), Arg::integer(9), Arg::integer(4),
              Arg::integer(3), Arg::listOf({yes, yes, yes})},
             {x, x, mean, rstd});
  int weight = program.outputs[1], places = addInput(program, mask);
  ASSERT_TRUE(addCall(program, "masked_scatter.default",
                      {first, second, Arg::tensor(2)},
                      {weight, places, weight}));
  program.outputs = {program.outputs.back()};
  EXPECT_EQ(Trial().tryOne(program), "");
}
