//===- ElementDefectsTest.cpp - Defects of single elements ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that the compiler once computed wrongly or did not survive, cut down by
// ft-random: each is compiled, run and compared with the interpreter.
// These are of functions of single elements.

#include "tests/unit/random/OneCall.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::random;

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

TEST(Defects, AiryFunctionOfInfinity) {
  Tensor x = reals(DType::F32, {3}, {kInf, -kInf, 0});
  EXPECT_EQ(failureOf("special_airy_ai.default", {first}, {x}), "");
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

TEST(Defects, ThePolesOfTheArcTangent) {
  Tensor x = complexes({2}, {{0, 1}, {0, -1}});
  EXPECT_EQ(failureOf("atan.default", {first}, {x}), "");
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

TEST(Defects, TheRootsOfTheLogarithmOfGamma) {
  Tensor x = reals(DType::F32, {2}, {1, 2});
  EXPECT_EQ(valuesOf("lgamma.default", {first}, {x}),
            std::vector<double>({0, 0}));
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

TEST(Defects, TheSixthIsAFloat32) {
  Tensor x = reals(DType::F64, {1}, {0.5});
  EXPECT_EQ(failureOf("hardsigmoid_backward.default", {first, second}, {x, x}),
            "");
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

TEST(Defects, TheFusedGeluIsExact) {
  Tensor self = reals(DType::F64, {1}, {0}), a = reals(DType::F64, {1, 1}, {1});
  EXPECT_EQ(failureOf("_addmm_activation.default",
                      {first, second, Arg::tensor(2), Arg::integer(1),
                       Arg::integer(1), Arg::truth(true)},
                      {self, a, a}),
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
