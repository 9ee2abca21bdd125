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
  EXPECT_EQ(
      r.call("t::f", {tensor({3}), tensor({4})}, {kX, kY}),
      "error: sizes 3 of 'x' and 4 of 'y' do not broadcast at dim 0 of 1");
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
int32_t manyLanes(const ft_fake_api *api, ft_fake_call *call, void *) {
  return api->result(call, DLDataType{kDLFloat, 32, 7}, 0, nullptr, nullptr);
}

int32_t badResult(const ft_fake_api *api, ft_fake_call *call, void *) {
  ft_dim sizes[1] = {{1234}}; // a handle that was never given
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
  add("t::wide(Tensor x) -> Tensor", manyLanes);
  EXPECT_EQ(r.call("t::wide", {tensor({2})}, {kX}),
            "error: its fake rule gives a result of float32 in 7 lanes with 0 "
            "dims on device type 1, which no tensor can be");
}

const DLDataType kFloat = {kDLFloat, 32, 1};

/// What a rule that runs `body` says of t::f(Tensor x) -> Tensor, or of
/// another schema.
template <int32_t (*Body)(const ft_fake_api *, ft_fake_call *)>
std::string said(const char *schema = "t::f(Tensor x) -> Tensor") {
  Registry r;
  ft_fake_fn rule = [](const ft_fake_api *api, ft_fake_call *call, void *) {
    return Body(api, call);
  };
  EXPECT_EQ(r.add(registration(schema, FT_FAKE_CALLBACK, rule)), "");
  return r.call("t::f", {tensor({2, 3})}, {kX});
}

int32_t vector(const ft_fake_api *api, ft_fake_call *call, ft_dim size) {
  return api->result(call, kFloat, 1, &size, nullptr);
}
int32_t noSuchDim(const ft_fake_api *api, ft_fake_call *call) {
  return vector(api, call, api->size(call, api->arg(call, 0), 2));
}
int32_t noSuchStride(const ft_fake_api *api, ft_fake_call *call) {
  return vector(api, call, api->stride(call, api->arg(call, 0), -1));
}
int32_t unknownHandle(const ft_fake_api *api, ft_fake_call *call) {
  return vector(api, call, {0});
}
int32_t handleOfBefore(const ft_fake_api *api, ft_fake_call *call) {
  static ft_dim kept = {0};
  ft_dim before = kept;
  kept = api->dim(call, 4);
  return vector(api, call, before.handle ? before : kept);
}
int32_t product(const ft_fake_api *api, ft_fake_call *call) {
  return vector(
      api, call,
      api->multiply(call, api->dim(call, INT64_MAX), api->dim(call, 3)));
}
int32_t sum(const ft_fake_api *api, ft_fake_call *call) {
  ft_dim most = api->dim(call, INT64_MAX);
  return vector(api, call, api->add(call, most, most));
}
int32_t quotient(const ft_fake_api *api, ft_fake_call *call) {
  return vector(
      api, call,
      api->divide(call, api->dim(call, INT64_MIN), api->dim(call, -1)));
}
int32_t numberNowhere(const ft_fake_api *api, ft_fake_call *call) {
  ft_dim size = api->dim(call, 4);
  (void)api->number(call, size, nullptr);
  return vector(api, call, size);
}

TEST(FakeView, DimsOfNothingAreNotZero) {
  EXPECT_EQ(said<noSuchDim>(),
            "error: its fake rule asks for dim 2 of 'x', which has 2 dims");
  EXPECT_EQ(said<noSuchStride>(),
            "error: its fake rule asks for dim -1 of 'x', which has 2 dims");
  const char *stale =
      "error: its fake rule uses a dim that this call did not give it";
  EXPECT_EQ(said<unknownHandle>(), stale);
  EXPECT_EQ(said<handleOfBefore>(), "float32 [4] cpu");
  EXPECT_EQ(said<handleOfBefore>(), stale);
}

TEST(FakeView, NumbersThatDoNotFitAreErrors) {
  EXPECT_EQ(said<product>(), "error: its fake rule computes "
                             "9223372036854775807 * 3, which does not fit 64 "
                             "bits");
  EXPECT_EQ(said<sum>(), "error: its fake rule computes 9223372036854775807 + "
                         "9223372036854775807, which does not fit 64 bits");
  EXPECT_EQ(said<quotient>(), "error: its fake rule computes "
                              "-9223372036854775808 / -1, which does not fit "
                              "64 bits");
  EXPECT_EQ(said<numberNowhere>(), "error: its fake rule asks for a number "
                                   "without a place for it (NULL)");
}

/// Every function of the table, with a call that is NULL.
int32_t nullCall(const ft_fake_api *api, ft_fake_call *call) {
  const ft_fake_arg *x = api->arg(call, 0);
  ft_dim four = api->dim(call, 4);
  int64_t value = 1;
  EXPECT_EQ(api->num_args(nullptr), 0);
  EXPECT_EQ(api->arg(nullptr, 0), nullptr);
  EXPECT_EQ(api->arg_named(nullptr, "x"), nullptr);
  EXPECT_EQ(api->rank(nullptr, x), 0);
  (void)api->dtype(nullptr, x);
  (void)api->device(nullptr, x);
  (void)api->offset(nullptr, x);
  (void)api->integer(nullptr, x);
  (void)api->stride(nullptr, x, 0);
  (void)api->divide(nullptr, four, four);
  EXPECT_EQ(api->number(nullptr, four, &value), 0);
  EXPECT_EQ(api->equal(nullptr, four, four), 0);
  EXPECT_EQ(api->less(nullptr, four, four), 0);
  EXPECT_NE(api->expect_rank(nullptr, x, 2), 0);
  EXPECT_NE(api->expect_size(nullptr, x, 0, four), 0);
  EXPECT_NE(api->expect_dtype(nullptr, x, kFloat), 0);
  EXPECT_NE(api->result(nullptr, kFloat, 1, &four, nullptr), 0);
  EXPECT_NE(api->result_on(nullptr, {kDLCPU, 0}, kFloat, 1, &four, nullptr), 0);
  EXPECT_NE(api->fail(nullptr, FT_FAKE_SHAPE, "no"), 0);
  // Sums with it are no dims of this call.
  EXPECT_EQ(vector(api, call, api->add(nullptr, four, four)), 1);
  return api->result_like(nullptr, x);
}

TEST(FakeView, ACallThatIsNullFails) {
  EXPECT_EQ(said<nullCall>(),
            "error: its fake rule uses a dim that this call did not give it");
}

int32_t negativeSize(const ft_fake_api *api, ft_fake_call *call) {
  return vector(api, call, api->dim(call, -4));
}
int32_t negativeStride(const ft_fake_api *api, ft_fake_call *call) {
  ft_dim size = api->dim(call, 4), stride = api->dim(call, -4);
  return api->result(call, kFloat, 1, &size, &stride);
}
int32_t huge(const ft_fake_api *api, ft_fake_call *call) {
  ft_dim most = api->dim(call, INT64_MAX), sizes[2] = {most, most};
  return api->result(call, kFloat, 2, sizes, nullptr);
}
int32_t sevenFloats(const ft_fake_api *api, ft_fake_call *call) {
  return vector(api, call, api->dim(call, 7));
}
int32_t sixBytes(const ft_fake_api *api, ft_fake_call *call) {
  ft_dim size = api->dim(call, 6);
  return api->result(call, DLDataType{kDLInt, 8, 1}, 1, &size, nullptr);
}

TEST(FakeView, LayoutsThatNoTensorHasAreRefused) {
  EXPECT_EQ(said<negativeSize>(),
            "error: its fake rule gives a result of negative size: [-4]");
  EXPECT_EQ(said<negativeStride>(),
            "error: its fake rule gives a result of negative strides: [-4]");
  EXPECT_EQ(said<huge>(),
            "error: its fake rule gives a result that is too large: "
            "[9223372036854775807, 9223372036854775807]");
}

TEST(FakeView, ViewsStayInTheirBase) {
  const char *view = "t::f(Tensor(a) x) -> Tensor(a)";
  EXPECT_EQ(said<sevenFloats>(), "float32 [7] cpu");
  EXPECT_EQ(said<sevenFloats>(view), "error: its fake rule gives a view of "
                                     "extent 7, its base has 6");
  EXPECT_EQ(said<sixBytes>(view), "error: its fake rule gives a view of dtype "
                                  "int8, its base has float32");
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
