//===- BroadcastTest.cpp - Broadcasting that the run decides --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/Broadcast.h"

#include "compiler/shape/ShapeEnv.h"

#include <gtest/gtest.h>

using namespace ft;

namespace {

class Broadcast : public ::testing::Test {
protected:
  int64_t at(SymExpr e, int64_t x, int64_t y) {
    SymValue value =
        SymContext::evaluate(e, [&](llvm::StringRef name, int64_t &v) {
          v = name == "a" ? x : y;
          return true;
        });
    return value ? value.value : -1;
  }
  SymExpr size(llvm::StringRef name, int64_t hint, int64_t lower) {
    SymbolInfo info;
    info.hint = hint;
    info.range = Interval::atLeast(lower);
    return env.addInputSize(name, info);
  }
  std::vector<SymExpr> cases(SymExpr x, SymExpr y) {
    return {ctx.eq(x, y), ctx.eq(y, one), ctx.eq(x, one)};
  }

  SymContext ctx;
  ShapeEnv env{ctx};
  SymExpr a = ctx.symbol("a"), b = ctx.symbol("b"), one = ctx.constant(1);
};

TEST_F(Broadcast, SizeAndStepsAreRightInEachCase) {
  for (bool positive : {false, true}) {
    SymExpr both = broadcastSize(a, b, positive);
    SymExpr step = broadcastStep(Dim(a), positive).symbolic();
    for (int64_t x = positive; x < 6; ++x)
      for (int64_t y = positive; y < 6; ++y) {
        EXPECT_EQ(at(step, x, y), x == 1 ? 0 : 1) << x;
        if (x == y || x == 1 || y == 1) {
          EXPECT_EQ(at(both, x, y), x == 1 ? y : x) << x << ", " << y;
        }
      }
  }
}

TEST_F(Broadcast, TheExampleKeepsANarrowCaseOpen) {
  SymExpr x = size("a", 1, 1), y = size("b", 8, 1);
  EXPECT_EQ(env.choose(cases(x, y), {"mul", ""}, 1), 3U);
  ASSERT_EQ(env.guards().size(), 1U);
  EXPECT_EQ(env.query(ctx.eq(x, one)), Answer::Unknown);
  // What follows from it needs no other guard.
  EXPECT_EQ(env.choose(cases(x, y), {"add", ""}, 1), 3U);
  SymExpr both = broadcastSize(x, y, true);
  EXPECT_EQ(env.choose(cases(both, x), {"add", ""}, 1), 3U);
  EXPECT_EQ(env.guards().size(), 1U);
  EXPECT_TRUE(env.isTrue(ctx.logicalOr({ctx.eq(x, both), ctx.eq(x, one)})));
}

TEST_F(Broadcast, AlsoWhereSizesMayBeNothing) {
  SymExpr x = size("a", 1, 0), y = size("b", 8, 0);
  EXPECT_EQ(env.choose(cases(x, y), {"mul", ""}, 1), 3U);
  SymExpr both = broadcastSize(x, y, false);
  for (SymExpr s : {x, y})
    EXPECT_TRUE(env.isTrue(ctx.logicalOr({ctx.eq(s, both), ctx.eq(s, one)})));
}

TEST_F(Broadcast, EqualSizesOfTheExampleAreTakenToBeEqual) {
  SymExpr x = size("a", 8, 1), y = size("b", 8, 1);
  EXPECT_EQ(env.choose(cases(x, y), {"mul", ""}, 1), 0U);
  EXPECT_TRUE(env.isTrue(ctx.eq(x, y)));
}

TEST_F(Broadcast, TheOnlyPossibleCaseIsTaken) {
  SymExpr x = size("a", 1, 1);
  SymExpr five = ctx.constant(5);
  ASSERT_TRUE(env.declare(ctx.le(x, ctx.constant(3)), {}));
  EXPECT_EQ(env.choose(cases(x, five), {"add", ""}, 1), 2U);
  EXPECT_TRUE(env.isTrue(ctx.eq(x, one)));
}

TEST_F(Broadcast, WhatIsKnownNeedsNoGuard) {
  SymExpr x = size("a", 2, 1);
  ASSERT_TRUE(env.declare(ctx.le(x, ctx.constant(2)), {}));
  EXPECT_EQ(env.choose(cases(x, ctx.constant(2)), {"add", ""}, 1), 3U);
  EXPECT_TRUE(env.guards().empty());
}

} // namespace
