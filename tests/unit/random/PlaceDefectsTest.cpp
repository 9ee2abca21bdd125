//===- PlaceDefectsTest.cpp - Defects of moved elements ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that the compiler once computed wrongly or did not survive, cut down by
// ft-random: each is compiled, run and compared with the interpreter.
// These are of elements that move: views, indices, images, transforms.

#include "tests/unit/random/OneCall.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::random;

TEST(Defects, ComplexNumbersThatAreOnlyMoved) {
  Tensor x = complexes({2}, {{1, 2}, {3, 4}});
  EXPECT_EQ(failureOf("dstack.default", {Arg::listOf({first, second})}, {x, x}),
            "");
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

TEST(Defects, NumbersAreSearchedInOneSequenceOnly) {
  Tensor x(DType::F32, {2, 3});
  EXPECT_EQ(failureOf("searchsorted.Scalar", {first, Arg::floating(0.1)}, {x}),
            "refused");
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

TEST(Defects, ABoolIsPaddedWithWhatIsNotZero) {
  Tensor x(DType::Bool, {1});
  std::vector<Arg> args = {first, ints({1, 0}), Arg::string("constant"),
                           Arg::floating(0.1)};
  EXPECT_EQ(valuesOf("pad.default", args, {x}), std::vector<double>({1, 0}));
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
