//===- SumDefectsTest.cpp - Defects of sums ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that the compiler once computed wrongly or did not survive, cut down by
// ft-random: each is compiled, run and compared with the interpreter.
// These are of reductions, scans, products, norms, losses and attention.

#include "compiler/fake/StrideRules.h"
#include "tests/unit/random/OneCall.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::random;

TEST(Defects, DistanceBetweenComplexAndReal) {
  Tensor x = complexes({1}, {{1, 2}}), y = reals(DType::F64, {1}, {0.5});
  EXPECT_EQ(
      failureOf("dist.default", {first, second, Arg::floating(2)}, {y, x}), "");
}

TEST(Defects, LogSoftmaxConvertsBeforeItComputes) {
  Tensor x = reals(DType::BF16, {2}, {-10, 1.8125});
  EXPECT_EQ(failureOf("special_log_softmax.default",
                      {first, Arg::integer(0), Arg::ofDType(DType::F64)}, {x}),
            "");
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

TEST(Defects, TheNormOfOrderZeroCountsNaN) {
  Tensor x = reals(DType::F32, {4}, {kNan, 0, 2, kInf});
  EXPECT_EQ(
      valuesOf("linalg_vector_norm.default", {first, Arg::integer(0)}, {x}),
      std::vector<double>({3}));
}

TEST(Defects, AnInfiniteTargetTimesADifferenceOfZero) {
  Tensor x = reals(DType::F32, {2}, {95, -1});
  EXPECT_EQ(failureOf("kl_div.default",
                      {first, second, Arg::integer(0), Arg::truth(true)},
                      {x, x}),
            "");
}

TEST(Defects, AScalarWeightMayBeComplex) {
  Tensor x(DType::I64, {}), y(DType::I64, {});
  y.setInteger(0, 3);
  Program program = callOf("lerp.Tensor", {first, second, Arg::tensor(2)},
                           {x, y, complexes({}, {{0.5, -1}}).reshaped({})});
  EXPECT_EQ(Trial().tryOne(program), "");
  EXPECT_EQ(program.values.back().meta.dtype, DType::C128);
}

TEST(Defects, WeightsOfALossMayHaveMoreDims) {
  Tensor x = reals(DType::F32, {2}, {1, -1}), w(DType::F32, {3, 2});
  Arg none;
  EXPECT_EQ(failureOf("binary_cross_entropy_with_logits.default",
                      {first, second, Arg::tensor(2), none, Arg::integer(0)},
                      {x, x, w}),
            "");
}

TEST(Defects, RunningLogarithmsOfComplexNumbers) {
  Tensor x = complexes({3}, {{1, 2}, {3, -1}, {-2, 0.5}});
  EXPECT_EQ(failureOf("logcumsumexp.default", {first, Arg::integer(0)}, {x}),
            "");
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

TEST(Defects, SquaresUnderARootDoNotOverflow) {
  Tensor x = reals(DType::F32, {4}, {1e29, -2e29, 3e29, 0});
  std::vector<double> deviation = valuesOf("std.default", {first}, {x});
  ASSERT_EQ(deviation.size(), 1u);
  EXPECT_NEAR(deviation[0], 2.0816660e29, 1e24);
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

TEST(Defects, BatchNormOfNoStatisticsIsRefused) {
  Tensor x = reals(DType::F32, {2, 1}, {1, 2});
  // What is refused by name is no failure, a crash is.
  EXPECT_EQ(failureOf("_batch_norm_no_update.default",
                      {first, Arg::none(), Arg::none(), Arg::none(),
                       Arg::none(), Arg::floating(0.1), Arg::floating(1e-5)},
                      {x}),
            "");
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
