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
