//===- CallRulesTest.cpp - Examples of single calls ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calls.h"
#include "gtest/gtest.h"

using namespace ft;

namespace {

const Arg kFirst = Arg::tensor(0);

TEST(CallRules, ViewsShareStorage) {
  TensorMeta x = tensor({3, 4});
  EXPECT_EQ(
      call("transpose.int", {x}, {kFirst, Arg::integer(0), Arg::integer(1)}),
      "float32 [4, 3] strides [1, 4] cpu = view of 0");
  EXPECT_EQ(call("select.int", {tensor({3, 4}, {1, 3})},
                 {kFirst, Arg::integer(0), Arg::integer(-1)}),
            "float32 [4] strides [3] offset 2 cpu = view of 0");
  EXPECT_EQ(call("slice.Tensor", {tensor({10})},
                 {kFirst, Arg::integer(0), Arg::integer(-3), Arg::integer(100),
                  Arg::integer(2)}),
            "float32 [2] strides [2] offset 7 cpu = view of 0");
  EXPECT_EQ(call("diagonal.default", {x}, {kFirst, Arg::integer(1)}),
            "float32 [3] strides [5] offset 1 cpu = view of 0");
  EXPECT_EQ(call("split.Tensor", {tensor({5})}, {kFirst, Arg::integer(3)}),
            "float32 [3] cpu = view of 0; "
            "float32 [2] offset 3 cpu = view of 0");
}

TEST(CallRules, ReshapeCopiesWhereItMust) {
  EXPECT_EQ(call("reshape.default", {tensor({4, 3})}, {kFirst, ints({-1})}),
            "float32 [12] cpu = view of 0");
  EXPECT_EQ(
      call("reshape.default", {tensor({4, 3}, {1, 4})}, {kFirst, ints({-1})}),
      "float32 [12] cpu");
  EXPECT_EQ(call("view.default", {tensor({4, 3})}, {kFirst, ints({5, -1})}),
            "error: shape [5, -1] does not divide 12 elements");
}

TEST(CallRules, InPlaceFormsCheckWhatTheyWrite) {
  TensorMeta whole = typed(DType::I32, {2, 3});
  llvm::SmallVector<Arg> both = {kFirst, Arg::tensor(1)};
  EXPECT_EQ(call("add_.Tensor", {whole, typed(DType::I64, {3})}, both),
            "int32 [2, 3] cpu = view of 0");
  EXPECT_EQ(call("add_.Tensor", {whole, typed(DType::F32, {3})}, both),
            "error: a result of float32 cannot be written into a tensor of "
            "int32");
  EXPECT_EQ(
      call("add_.Tensor", {tensor({3}), tensor({2, 3})}, both),
      "error: the result float32 [2, 3] cpu does not have the size of "
      "the tensor that is written, 'self' (float32 [3] cpu): 2 and 1 dims");
  // A number may stand where the schema says tensor.
  EXPECT_EQ(call("add_.Tensor", {whole}, {kFirst, Arg::integer(1)}),
            "int32 [2, 3] cpu = view of 0");
}

TEST(CallRules, Products) {
  llvm::SmallVector<Arg> both = {kFirst, Arg::tensor(1)};
  EXPECT_EQ(call("matmul.default", {tensor({5, 2, 3}), tensor({3, 4})}, both),
            "float32 [5, 2, 4] cpu");
  EXPECT_EQ(
      call("linear.default", {tensor({2, 3}), tensor({4, 5})}, both),
      "error: the inner sizes differ: dim 1 of 'input' has size 3, dim 1 of "
      "'weight' has size 5");
  // Costs what a small one costs: nothing is allocated.
  EXPECT_EQ(call("mm.default", {tensor({65536, 65536}), tensor({65536, 65536})},
                 both),
            "float32 [65536, 65536] cpu");
}

TEST(CallRules, ConvolutionsFollowChannelsLast) {
  TensorMeta image = tensor({2, 6, 4, 4}, {96, 1, 24, 6});
  TensorMeta weight = tensor({8, 6, 1, 1});
  EXPECT_EQ(call("conv2d.default", {image, weight}, {kFirst, Arg::tensor(1)}),
            "float32 [2, 8, 4, 4] strides [128, 1, 32, 8] cpu");
  EXPECT_EQ(call("conv2d.default", {tensor({2, 5, 4, 4}), weight},
                 {kFirst, Arg::tensor(1)}),
            "error: 'weight', float32 [8, 6, 1, 1] cpu, takes 6 channels in 1 "
            "group, dim 1 of the input has size 5");
}

TEST(CallRules, PoolsDropWindowsThatBeginOutside) {
  auto pool = [](int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
    return call("max_pool1d.default", {tensor({1, size})},
                {kFirst, ints({kernel}), ints({stride}), ints({pad}), ints({1}),
                 Arg::truth(true)});
  };
  EXPECT_EQ(pool(7, 2, 3, 0), "float32 [1, 3] cpu");
  EXPECT_EQ(pool(5, 3, 2, 1), "float32 [1, 3] cpu");
  EXPECT_EQ(pool(2, 3, 3, 1), "float32 [1, 1] cpu");
}

TEST(CallRules, IndexedDimsStandTogether) {
  TensorMeta x = tensor({3, 4, 5}, {1, 3, 12});
  TensorMeta i = typed(DType::I64, {2});
  EXPECT_EQ(call("index.Tensor", {x, i},
                 {kFirst, Arg::listOf({Arg::none(), Arg::tensor(1)})}),
            "float32 [3, 2, 5] strides [1, 3, 6] cpu");
  EXPECT_EQ(call("index.Tensor", {tensor({3, 4, 5}), i, i},
                 {kFirst,
                  Arg::listOf({Arg::tensor(1), Arg::none(), Arg::tensor(2)})}),
            "float32 [2, 4] cpu");
}

TEST(CallRules, Einsum) {
  auto einsum = [](llvm::StringRef equation, TensorMeta a, TensorMeta b) {
    return call(
        "einsum.default", {a, b},
        {Arg::string(equation), Arg::listOf({Arg::tensor(0), Arg::tensor(1)})});
  };
  EXPECT_EQ(einsum("bij,bjk->bik", tensor({5, 2, 3}), tensor({5, 3, 4})),
            "float32 [5, 2, 4] cpu");
  // The product is laid out left dims first, the output is a view of it.
  EXPECT_EQ(einsum("ij,jk->ki", tensor({2, 3}), tensor({3, 4})),
            "float32 [4, 2] strides [1, 4] cpu");
  EXPECT_EQ(einsum("...d,d->...", tensor({5, 2, 3}), tensor({3})),
            "float32 [5, 2] cpu");
  EXPECT_EQ(einsum("ij,jk->ik", tensor({2, 3}), tensor({4, 4})),
            "error: subscript 'j' has size 4 in 'tensors[1]' and 3 before");
  EXPECT_EQ(call("einsum.default", {tensor({2, 3})},
                 {Arg::string("ij->ji"), Arg::listOf({Arg::tensor(0)})}),
            "float32 [3, 2] strides [1, 3] cpu = view of 0");
}

TEST(CallRules, NumbersStandForTensorsOnlyWhereTheyMay) {
  EXPECT_EQ(call("leaky_relu.default", {}, {Arg::floating(1)}),
            "error: 'self' must be a tensor");
  EXPECT_EQ(call("add_.Tensor", {tensor({3})}, {Arg::floating(1), kFirst}),
            "error: argument 'self' is missing or of a wrong kind");
  EXPECT_EQ(call("mm.default", {tensor({3, 3})}, {kFirst, Arg::floating(1)}),
            "error: argument 'mat2' is missing or of a wrong kind");
}

TEST(CallRules, Factorisations) {
  EXPECT_EQ(call("linalg_qr.default", {tensor({3, 2})}, {kFirst}),
            "float32 [3, 2] strides [1, 3] cpu; "
            "float32 [2, 2] strides [1, 2] cpu");
  EXPECT_EQ(call("linalg_inv_ex.default", {tensor({2, 3})}, {kFirst}),
            "error: linalg_inv_ex needs square matrices, but dim 0 of 'A' has "
            "size 2 and dim 1 has 3");
}

TEST(CallRules, SizesThatDependOnData) {
  EXPECT_EQ(call("nonzero.default", {tensor({3})}, {kFirst}),
            "error: the size of nonzero's result depends on data");
}

} // namespace
