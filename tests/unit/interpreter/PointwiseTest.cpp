//===- PointwiseTest.cpp - Functions of special values --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The expected numbers are those of PyTorch's CPU kernels, whose vector and
// scalar loops agree on all of them.

#include "tests/interpreter/Interpreter.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::interpreter;

static const double kInf = HUGE_VAL, kNan = std::nan("");

static CallResult call(llvm::StringRef name, std::vector<Arg> args,
                       llvm::ArrayRef<Tensor> operands, DType result) {
  const Schema *schema = SchemaTable::get().find(name);
  while (args.size() < schema->args.size())
    args.push_back(schema->args[args.size()].defaultValue);
  Dims sizes(operands[0].shape.begin(), operands[0].shape.end());
  return evaluate(*schema, args, operands,
                  TensorMeta::contiguous(result, sizes));
}

/// The function of one complex number, or of two.
static Complex complexOf(llvm::StringRef name, std::vector<Complex> numbers) {
  std::vector<Tensor> operands;
  std::vector<Arg> args;
  for (Complex number : numbers) {
    args.push_back(Arg::tensor(operands.size()));
    operands.emplace_back(DType::C128, Shape{1});
    operands.back().setComplex(0, number);
  }
  return call(name, args, operands, DType::C128).results[0].complex(0);
}

static bool isNaN(Complex x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

TEST(Pointwise, ProductsAndQuotientsOfComplexInfinities) {
  EXPECT_TRUE(isNaN(complexOf("mul.Tensor", {{kInf, 1}, {1, 0}})));
  EXPECT_TRUE(isNaN(complexOf("add.Tensor", {{0, 0}, {kInf, 1}})));
  EXPECT_TRUE(isNaN(complexOf("div.Tensor", {{1, 0}, {kInf, kInf}})));
  EXPECT_TRUE(isNaN(complexOf("reciprocal.default", {{kInf, -kInf}})));
  EXPECT_EQ(complexOf("div.Tensor", {{1, 2}, {kInf, 1}}), Complex(0));
  EXPECT_EQ(complexOf("div.Tensor", {{1, 2}, {0, 0}}), Complex(kInf, kInf));
}

TEST(Pointwise, PowersOfComplexInfinities) {
  EXPECT_EQ(complexOf("pow.Tensor_Tensor", {{kInf, kNan}, {-2, 1}}),
            Complex(0));
  EXPECT_EQ(complexOf("pow.Tensor_Tensor", {{0.5, 0.5}, {kInf, 0}}),
            Complex(0));
  EXPECT_TRUE(isNaN(complexOf("pow.Tensor_Tensor", {{0, 0}, {1, -kInf}})));
  EXPECT_TRUE(isNaN(complexOf("pow.Tensor_Tensor", {{0, 0}, {0, 1}})));
}

TEST(Pointwise, TheSigmoidOfComplexInfinities) {
  EXPECT_EQ(complexOf("sigmoid.default", {{kInf, kInf}}), Complex(1));
  EXPECT_EQ(complexOf("sigmoid.default", {{-kInf, 0}}), Complex(0));
  EXPECT_TRUE(isNaN(complexOf("sigmoid.default", {{-kInf, 1}})));
}

TEST(Pointwise, ThresholdsOfBoolsHaveNoKernel) {
  Tensor x(DType::Bool, {2});
  CallResult result =
      call("threshold_backward.default",
           {Arg::tensor(0), Arg::tensor(1), Arg::floating(-0.75)}, {x, x},
           DType::Bool);
  EXPECT_NE(result.unspecified, "");
}

TEST(Pointwise, BesselsI1OfNegativeZero) {
  Tensor x(DType::F32, {1});
  x.setReal(0, -0.0);
  double y = call("special_i1e.default", {Arg::tensor(0)}, x, DType::F32)
                 .results[0]
                 .real(0);
  EXPECT_TRUE(y == 0 && !std::signbit(y));
}

TEST(Pointwise, AnInfiniteSlopeStartsBelowZero) {
  Tensor x(DType::F32, {1});
  Arg one = Arg::floating(1);
  EXPECT_EQ(call("elu.default", {Arg::tensor(0), Arg::floating(kInf), one, one},
                 x, DType::F32)
                .results[0]
                .real(0),
            0);
}

TEST(Pointwise, SlopesOfLargeNumbersOverflow) {
  Tensor g(DType::F32, {1}), y(DType::F32, {1});
  y.setReal(0, 1e30);
  std::vector<Arg> args = {Arg::tensor(0), Arg::tensor(1)};
  EXPECT_TRUE(std::isnan(call("tanh_backward.default", args, {g, y}, DType::F32)
                             .results[0]
                             .real(0)));
  EXPECT_EQ(call("sigmoid_backward.default", args, {g, y}, DType::F32)
                .results[0]
                .real(0),
            0);
}

TEST(Pointwise, TheGradientOfGeluOfALargeNumber) {
  Tensor g(DType::F32, {1}), x(DType::F32, {1});
  g.setReal(0, 1);
  x.setReal(0, 1e30);
  CallResult result =
      call("gelu_backward.default",
           {Arg::tensor(0), Arg::tensor(1), Arg::string("tanh")}, {g, x},
           DType::F32);
  EXPECT_TRUE(std::isnan(result.results[0].real(0)));
}

TEST(Pointwise, APowerOfTwoOverflowsBeforeItScales) {
  Tensor zero(DType::U8, {1}), y(DType::U8, {1});
  y.setInteger(0, 200);
  CallResult result = call("ldexp.Tensor", {Arg::tensor(0), Arg::tensor(1)},
                           {zero, y}, DType::F32);
  EXPECT_TRUE(std::isnan(result.results[0].real(0)));
}
