//===- FakeViewTest.cpp - Fake rules of custom operators -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operators.h"
#include "gtest/gtest.h"

using namespace ft;

namespace {

const Arg kX = Arg::tensor(0), kY = Arg::tensor(1);

TEST(FakeView, ResultsLikeAnArgument) {
  Registry r;
  ft_op_registration op =
      registration("t::f(int n, Tensor x) -> (Tensor, Tensor)", FT_FAKE_LIKE);
  op.fake_argument = 1;
  ASSERT_EQ(r.add(op), "");
  // Dense, in the argument's order of dims.
  EXPECT_EQ(r.call("t::f", {tensor({3, 4}, {1, 6})}, {Arg::integer(1), kX}),
            "float32 [3, 4] strides [1, 3] cpu; "
            "float32 [3, 4] strides [1, 3] cpu");
}

TEST(FakeView, ResultsOfAnElementwiseOperator) {
  Registry r;
  ASSERT_EQ(r.add(registration("t::f(Tensor x, Tensor y) -> Tensor",
                               FT_FAKE_BROADCAST)),
            "");
  TensorMeta ints = TensorMeta::contiguous(DType::I64, {3, 1});
  EXPECT_EQ(r.call("t::f", {ints, tensor({4})}, {kX, kY}),
            "float32 [3, 4] cpu");
  EXPECT_EQ(r.call("t::f", {tensor({3}), tensor({4})}, {kX, kY}),
            "error: sizes 3 and 4 do not broadcast at dim 0 of 1");
}

TEST(FakeView, WrittenArgumentsNeedNoRule) {
  Registry r;
  ASSERT_EQ(r.add(registration("t::f(Tensor(a!) x) -> Tensor(a!)")), "");
  ASSERT_EQ(r.add(registration("t::g(Tensor(a!) x) -> ()")), "");
  EXPECT_EQ(r.call("t::f", {tensor({2})}, {kX}),
            "float32 [2] cpu in operand 0");
  EXPECT_EQ(r.call("t::g", {tensor({2})}, {kX}), "");
  // The functional form gives the new value.
  EXPECT_EQ(r.call("t::g#functional", {tensor({2, 2}, {1, 2})}, {kX}),
            "float32 [2, 2] strides [1, 2] cpu");
}

/// [n, d], k → [n, k]; d must be a multiple of k.
int32_t poolRule(const ft_fake_api *api, ft_fake_call *call, void *user) {
  auto *called = static_cast<int *>(user);
  ++*called;
  const ft_fake_arg *x = api->arg_named(call, "x");
  const ft_fake_arg *k = api->arg(call, 1);
  if (api->expect_rank(call, x, 2))
    return 1;
  ft_dim size = api->integer(call, k), d = api->size(call, x, 1);
  ft_dim rest = api->subtract(
      call, d, api->multiply(call, api->divide(call, d, size), size));
  if (!api->equal(call, rest, api->dim(call, 0)))
    return api->fail(call, FT_FAKE_SHAPE,
                     "'x' has a size at dim 1 that is no multiple of k");
  ft_dim sizes[2] = {api->size(call, x, 0), size};
  ft_dim strides[2] = {api->dim(call, 1), sizes[0]};
  return api->result(call, api->dtype(call, x), 2, sizes, strides);
}

TEST(FakeView, ACallbackSeesArgumentsAndGivesResults) {
  Registry r;
  int called = 0;
  ft_op_registration op = registration("t::pool(Tensor x, int k=2) -> Tensor",
                                       FT_FAKE_CALLBACK, poolRule);
  op.user = &called;
  ASSERT_EQ(r.add(op), "");
  EXPECT_EQ(r.call("t::pool", {tensor({3, 8})}, {kX}),
            "float32 [3, 2] strides [1, 3] cpu");
  EXPECT_EQ(r.call("t::pool", {tensor({3, 8})}, {kX, Arg::integer(3)}),
            "error: 'x' has a size at dim 1 that is no multiple of k");
  EXPECT_EQ(r.call("t::pool", {tensor({3})}, {kX}),
            "error: 'x' must have 2 dims, it has 1");
  EXPECT_EQ(r.call("t::pool", {tensor({3, 8})}, {kX, Arg::integer(0)}),
            "error: its fake rule divides by 0");
  EXPECT_EQ(called, 4);
}

TEST(FakeView, SymbolicSizesPassThrough) {
  Registry r;
  int called = 0;
  ft_op_registration op = registration("t::pool(Tensor x, int k=2) -> Tensor",
                                       FT_FAKE_CALLBACK, poolRule);
  op.user = &called;
  ASSERT_EQ(r.add(op), "");
  Dim batch(r.dialect().symbolContext().symbol("batch"));
  EXPECT_EQ(r.call("t::pool", {tensor({batch, 8}, {8, 1})}, {kX}),
            "float32 [batch, 2] strides [1, batch] cpu");
  // Whether a symbolic size is a multiple of 2 is not guessed.
  EXPECT_EQ(
      r.call("t::pool", {tensor({3, batch}, {batch, 1})}, {kX}).substr(0, 6),
      "error:");
}

int32_t noResult(const ft_fake_api *, ft_fake_call *, void *) { return 0; }
int32_t noReason(const ft_fake_api *, ft_fake_call *, void *) { return 5; }
int32_t badResult(const ft_fake_api *api, ft_fake_call *call, void *) {
  ft_dim sizes[1] = {{1234}}; // a handle that was never given
  (void)api->size(call, api->arg(call, 99), -3);
  (void)api->rank(call, api->list_item(api->arg(call, 0), 7));
  return api->result(call, DLDataType{77, 3, 1}, 1, sizes, nullptr);
}

TEST(FakeView, MistakesOfARuleAreErrors) {
  Registry r;
  auto add = [&](const char *schema, ft_fake_fn rule) {
    ASSERT_EQ(r.add(registration(schema, FT_FAKE_CALLBACK, rule)), "");
  };
  add("t::none(Tensor x) -> Tensor", noResult);
  add("t::why(Tensor x) -> Tensor", noReason);
  add("t::bad(Tensor x) -> Tensor", badResult);
  EXPECT_EQ(r.call("t::none", {tensor({2})}, {kX}),
            "error: its fake rule gives 0 results, the schema asks for 1");
  EXPECT_EQ(r.call("t::why", {tensor({2})}, {kX}),
            "error: its fake rule failed without a reason (code 5)");
  EXPECT_EQ(r.call("t::bad", {tensor({2})}, {kX}),
            "error: its fake rule gives a result of code 77 of 3 bits with 1 "
            "dims on device type 1, which no tensor can be");
}

TEST(FakeView, DevicesAgreeUnlessTheOperatorSaysOtherwise) {
  Registry r;
  ASSERT_EQ(
      r.add(registration("t::f(Tensor x, Tensor y) -> Tensor", FT_FAKE_LIKE)),
      "");
  ft_op_registration any =
      registration("t::g(Tensor x, Tensor y) -> Tensor", FT_FAKE_LIKE);
  any.flags = FT_OP_ANY_DEVICE;
  ASSERT_EQ(r.add(any), "");
  TensorMeta gpu = tensor({2});
  gpu.device = *Device::parse("cuda:1");
  EXPECT_EQ(r.call("t::f", {gpu, tensor({2})}, {kX, kY}).substr(0, 6),
            "error:");
  EXPECT_EQ(r.call("t::g", {gpu, tensor({2})}, {kX, kY}), "float32 [2] cuda:1");
}

} // namespace
