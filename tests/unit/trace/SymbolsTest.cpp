//===- SymbolsTest.cpp - Sizes and numbers that data decide ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace.h"

#include "compiler/driver/Session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ft;
using testing::HasSubstr;

namespace {
FakeModeOptions withSymbols() {
  FakeModeOptions options;
  options.symbols = true;
  return options;
}

struct Symbols : testing::Test {
  FakeMode mode{withSymbols()};
  FakeMode::Scope scope{mode};
  Tensor x = mode.input("x", {3, 4});
  Tensor i = mode.input("i", TensorDesc({}).dtype(kInt64));
};
} // namespace

TEST_F(Symbols, AreRememberedUntilTheTensorIsWritten) {
  EXPECT_EQ(ops::nonzero(x).size(0).str(), "u0");
  EXPECT_EQ(ops::nonzero(x).size(0).str(), "u0");
  x.add_(1);
  EXPECT_EQ(ops::nonzero(x).size(0).str(), "u1");
  mode.newEpoch();
  EXPECT_EQ(ops::nonzero(x).size(0).str(), "u2");
  // Another tensor, even with the same data.
  EXPECT_EQ(ops::nonzero(x.clone()).size(0).str(), "u3");
  EXPECT_TRUE(mode.ok()) << mode.error().render();
}

TEST_F(Symbols, OfItemsAreSizes) {
  SymInt n = i.item().toInt();
  EXPECT_FALSE(n.isStatic());
  EXPECT_EQ(n.str(), "u0");
  EXPECT_EQ((n * 2 + 1).str(), "2*u0 + 1");
  // A number is no size before it is checked to be one.
  EXPECT_FALSE(ops::zeros({n, 4}).ok());
  EXPECT_EQ(mode.errorCount(), 1u);
  ops::sym_constrain_range_for_size(n);
  Tensor z = ops::zeros({n, 4});
  EXPECT_EQ(z.str(), "float32 [u0, 4] cpu");
  EXPECT_EQ(z.view({-1}).size(0).str(), "4*u0");
  EXPECT_EQ((z + 1).size(0), n) << "the same expression is equal";
  EXPECT_EQ(mode.errorCount(), 1u);
  mode.output("z", z);
  EXPECT_THAT(mode.print(), HasSubstr("ft.symbol \"u0\""));
}

TEST_F(Symbols, ToBranchOnThemIsAnError) {
  SymInt n = i.item().toInt();
  EXPECT_FALSE(n > 3);
  EXPECT_EQ(mode.error().code(), "FT0311");
  EXPECT_THAT(mode.error().message, HasSubstr("branches on 3 < u0"));
  EXPECT_EQ(n.value(), 0);
  EXPECT_EQ(mode.errorCount(), 2u);
}

TEST_F(Symbols, AreReadBackFromTheText) {
  Tensor rows = ops::nonzero(x);
  mode.output("rows", rows + 1);
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  Session session, again;
  ASSERT_TRUE(session.load(mode));
  ASSERT_TRUE(again.loadText(session.print(), "trace.mlir"));
  EXPECT_EQ(again.print(), session.print());
}

TEST_F(Symbols, OfRegionsAreThoseOfTheirTensors) {
  // The text says one thing of the size, wherever it is named.
  Tensor y = cond(
      x.sum() > 0, {x},
      [](const Tensors &in) {
        SymInt n = ops::nonzero(in[0]).size(0);
        return std::vector{ops::zeros({n, 2})};
      },
      [](const Tensors &) { return std::vector{ops::ones({3, 2})}; })[0];
  mode.output("y", y);
  ASSERT_TRUE(mode.ok()) << mode.error().render();
  std::string text = mode.print();
  EXPECT_THAT(text, HasSubstr("ft.value = \"u1\"} : (tensor<?x2xi64, "
                              "#ft.meta<[u1], strides = [1, u1], cpu>>)"));
}

TEST_F(Symbols, ThatAreTooLargeAreErrors) {
  SymInt n = ops::nonzero(x).size(0);
  SymInt product = n * std::numeric_limits<int64_t>::max() * 3;
  EXPECT_FALSE(product.ok());
  EXPECT_EQ(mode.error().message,
            "operator.mul(a: 9223372036854775807*u0, b: 3): the result is a "
            "number whose expression does not fit 64 bits");
}

//===----------------------------------------------------------------------===//
// Sizes of inputs
//===----------------------------------------------------------------------===//

namespace {
/// Input x of [8, 16], its first dim called n.
struct DynamicSizes : testing::Test {
  FakeMode mode;
  FakeMode::Scope scope{mode};
  Tensor x = mode.input("x", TensorDesc({8, 16}).dynamic(0, "n[0..100]"));

  /// The guards of the model after stage fake.
  std::string guards() {
    Session session;
    if (!session.load(mode) || !session.runTo(Stage::Fake))
      return "refused";
    std::string text = session.print(), found;
    for (size_t at = 0; (at = text.find("ft.fact \"", at)) != text.npos;) {
      at += 9;
      found += text.substr(at, text.find('"', at) - at) + "; ";
    }
    return found;
  }
};
} // namespace

TEST_F(DynamicSizes, StayFreeWhereNothingAsks) {
  SymInt n = x.size(0);
  EXPECT_FALSE(n.isStatic());
  Tensor y = ops::relu(x) + 1;
  EXPECT_EQ(y.size(0), n);
  mode.output("y", y.view({n * 2, 8}));
  EXPECT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_EQ(guards(), "");
}

TEST_F(DynamicSizes, BranchingOnThemIsAGuard) {
  Tensor y = x.size(0) <= 16 ? x * 2 : x * 3;
  EXPECT_TRUE(x.size(0) < 20) << "follows";
  EXPECT_FALSE(x.size(0) == 17) << "follows";
  mode.output("y", y);
  EXPECT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_EQ(guards(), "s0 <= 16; ");
}

TEST_F(DynamicSizes, SidesThatTheExampleDoesNotTake) {
  EXPECT_FALSE(x.size(0) == 5);
  EXPECT_TRUE(x.size(0) != 5);
  mode.output("y", x * 2);
  EXPECT_EQ(guards(), "s0 != 5; ");
}

TEST_F(DynamicSizes, ShapesOfOtherRanksDiffer) {
  // x.size() == x[0].size(): no question about sizes.
  EXPECT_FALSE(x.sizes() == x[0].sizes());
  mode.output("y", x * 2);
  EXPECT_EQ(guards(), "s0 >= 1; ") << "x[0] needs a row";
}

TEST_F(DynamicSizes, AreSharedByName) {
  Tensor y = mode.input("y", TensorDesc({17, 16}).dynamic(0, "2*n + 1"));
  Tensor z = mode.input("z", TensorDesc({25}).dynamic(0, ""));
  mode.output("w", ops::cat({x, y}).sum(1) + z);
  EXPECT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_EQ(y.size(0).str(), "2*s0 + 1");
  EXPECT_EQ(guards(), "3*s0 == s1 - 1; ");
}

TEST_F(DynamicSizes, MayBeMultiples) {
  Tensor y = mode.input("y", TensorDesc({12}).dynamic(0, "4*_rows"));
  mode.output("z", y.view({-1, 4}));
  EXPECT_TRUE(mode.ok()) << mode.error().render();
  EXPECT_EQ(guards(), "");
}

TEST_F(DynamicSizes, MistakesAreErrors) {
  auto refused = [&](const TensorDesc &desc) {
    FakeMode other;
    other.input("n", TensorDesc({4}).dynamic(0, "n"));
    EXPECT_FALSE(other.input("x", desc).ok());
    return other.error().message;
  };
  EXPECT_THAT(refused(TensorDesc({8}).dynamic(1, "m")),
              HasSubstr("no such dim"));
  EXPECT_THAT(refused(TensorDesc({8}).dynamic(0, "m[9..]")),
              HasSubstr("it is 8"));
  EXPECT_THAT(refused(TensorDesc({8}).dynamic(0, "n")), HasSubstr("it is 8"));
  EXPECT_THAT(refused(TensorDesc({8}).dynamic(0, "3*_k")),
              HasSubstr("it is 8"));
  EXPECT_THAT(refused(TensorDesc({8}).dynamic(0, "m[1")),
              HasSubstr("declared"));
  EXPECT_THAT(refused(TensorDesc({8}).dynamic(0, "a*b")),
              HasSubstr("two names"));
  FakeMode other;
  other.parameter("w", TensorDesc({8}).dynamic(0, "m"));
  EXPECT_THAT(other.error().message, HasSubstr("is no input"));
}
