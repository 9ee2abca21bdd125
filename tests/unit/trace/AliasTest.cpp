//===- AliasTest.cpp - Which tensors of a trace share storage --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ft;

namespace {
struct Case {
  const char *line;
  Tensor (*call)(Tensor x); // float32 [4, 6]
  bool shares;

  [[maybe_unused]] friend void PrintTo(const Case &c, std::ostream *os) {
    *os << c.line;
  }
};
} // namespace

#define CASE(shares, expression)                                               \
  {#expression, [](Tensor x) -> Tensor { return expression; }, shares}

static const Case kCases[] = {
    CASE(true, x.view({24})),
    CASE(true, x.reshape({6, 4})),
    CASE(false, x.t().reshape({24})),
    CASE(true, ops::_unsafe_view(x, {24})),
    CASE(true, x.t()),
    CASE(true, x.transpose(0, 1)),
    CASE(true, x.permute({1, 0})),
    CASE(true, x[2]),
    CASE(true, x.slice(1, 1, 5, 2)),
    CASE(true, x.narrow(0, 1, 2)),
    CASE(true, x.split(2)[1]),
    CASE(true, x.chunk(3, 1)[2]),
    CASE(true, x.unbind(1)[5]),
    CASE(true, x.unsqueeze(0)),
    CASE(true, x.squeeze()),
    CASE(true, x[0].unsqueeze(0).expand({4, 6})),
    CASE(true, x.diagonal()),
    CASE(true, x.unfold(1, 3, 2)),
    CASE(true, x.as_strided({3}, {7}, 1)),
    CASE(true, x.detach()),
    CASE(true, x.alias()),
    CASE(true, x.contiguous()),
    CASE(false, x.t().contiguous()),
    CASE(true, x.to(kFloat32)),
    CASE(false, x.to(kFloat16)),
    CASE(false, x.clone()),
    CASE(false, x + 0),
    CASE(true, x.add_(1)),
    CASE(true, x.t_()),
    CASE(false, ops::permute_copy(x, {1, 0})),
    CASE(true, x.slice(0, 0, 0).view({6, 0}).view({0, 2})),
};

namespace {
class Alias : public testing::TestWithParam<Case> {};
} // namespace

TEST_P(Alias, OfAResult) {
  FakeMode mode;
  Tensor x = mode.input("x", {4, 6});
  Tensor result = GetParam().call(x);
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_EQ(result.shares_storage(x), GetParam().shares);
}

INSTANTIATE_TEST_SUITE_P(Cases, Alias, testing::ValuesIn(kCases));

TEST(Handles, AreTheTensorThatInPlaceCallsChange) {
  FakeMode mode;
  Tensor x = mode.input("x", {32, 64}), same = x;
  Tensor before = x.view({64, 32});
  EXPECT_TRUE(x.t_().is_same(x));
  EXPECT_EQ(same.str(), "float32 [64, 32] strides [1, 64] cpu");
  EXPECT_EQ(before.str(), "float32 [64, 32] cpu");
  x.squeeze_().unsqueeze_(0);
  EXPECT_EQ(same.size(0), 1);
  same += x;
  same *= 2;
  EXPECT_TRUE(same.is_same(x));
  EXPECT_TRUE(mode.ok()) << mode.error().render();
  // The annotation of the first operation stays.
  EXPECT_THAT(mode.print(),
              testing::HasSubstr("%arg0: tensor<32x64xf32, #ft.meta<cpu>>"));
}
