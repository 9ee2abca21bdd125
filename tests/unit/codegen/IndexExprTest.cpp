//===- IndexExprTest.cpp - Integer expressions over loop counters ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/IndexExpr.h"

#include <gtest/gtest.h>

using namespace ft;

TEST(IndexExpr, ReshapeMeetsItself) {
  IndexSpace s;
  IndexExpr i = s.of(s.addCounter({}, 8)), j = s.of(s.addCounter({}, 64));
  IndexExpr flat = i * 64 + j;
  EXPECT_EQ(s.floorDiv(flat, 64), i);
  EXPECT_EQ(s.mod(flat, 64), j);
}

TEST(IndexExpr, DivisionAndRemainderAddUp) {
  IndexSpace s;
  IndexExpr f = s.of(s.addCounter({}, 1000));
  IndexExpr q = s.floorDiv(f, 7), r = s.mod(f, 7);
  EXPECT_FALSE(q == f);
  EXPECT_EQ(q * 7 + r, f);
  EXPECT_EQ(s.floorDiv(q, 5), s.floorDiv(f, 35));
}

TEST(IndexExpr, DividesWhatHasACommonFactor) {
  IndexSpace s;
  IndexExpr h = s.of(s.addCounter({}, 12)), d = s.of(s.addCounter({}, 64));
  EXPECT_EQ(s.floorDiv(h * 64 + d, 128), s.floorDiv(h, 2));
}

TEST(IndexExpr, RangesAndNegativeNumerators) {
  IndexSpace s;
  unsigned a = s.addCounter({}, 10);
  IndexExpr e = s.of(a) + IndexExpr(-3);
  EXPECT_EQ(s.range(e), std::make_pair(Dim(-3), Dim(6)));
  EXPECT_EQ(s.range(s.floorDiv(e, 4)), std::make_pair(Dim(-1), Dim(1)));
  EXPECT_TRUE(s.dependsOn(s.floorDiv(e, 4), a));
  EXPECT_TRUE(s.dividesBy(s.floorDiv(e, 4), a));
  EXPECT_FALSE(s.dividesBy(e, a));
}
