//===- MemoryPlanTest.cpp - Offsets of buffers in one arena ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/MemoryPlan.h"

#include <gtest/gtest.h>
#include <random>

using ft::MemoryPlan;

// The example of the header.
TEST(MemoryPlan, DeadBuffersGiveTheirBytesBack) {
  MemoryPlan plan;
  unsigned a = plan.add(64, 0, 1);
  unsigned b = plan.add(128, 1, 3);
  unsigned c = plan.add(64, 2, 4);
  plan.solve();
  EXPECT_EQ(plan.offset(b), 0); // the largest is placed first
  EXPECT_EQ(plan.offset(a), 128);
  EXPECT_EQ(plan.offset(c), 128);
  EXPECT_EQ(plan.totalBytes(), 192);
  EXPECT_EQ(plan.lowerBound(), 192);
}

TEST(MemoryPlan, SizesAreRoundedUpToTheAlignment) {
  MemoryPlan plan;
  plan.add(1, 0, 0);
  unsigned second = plan.add(1, 0, 0);
  plan.solve();
  EXPECT_EQ(plan.offset(second) % MemoryPlan::kAlignment, 0);
  EXPECT_EQ(plan.totalBytes(), 2 * MemoryPlan::kAlignment);
}

TEST(MemoryPlan, EmptyBuffersTakeNothing) {
  MemoryPlan plan;
  plan.add(0, 0, 5);
  plan.solve();
  EXPECT_EQ(plan.totalBytes(), 0);
}

TEST(MemoryPlan, ExtendingKeepsNeighboursApart) {
  MemoryPlan plan;
  unsigned a = plan.add(64, 0, 0);
  unsigned b = plan.add(64, 1, 1);
  plan.extend(a, 1);
  plan.solve();
  EXPECT_NE(plan.offset(a), plan.offset(b));
}

// Any two buffers that live at one step are disjoint, and the arena stays near
// the lower bound.
TEST(MemoryPlan, RandomSchedulesNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    MemoryPlan plan;
    struct Range {
      int64_t bytes;
      unsigned first, last;
    };
    std::vector<Range> ranges;
    for (int i = 0; i < 40; ++i) {
      unsigned first = random() % 30;
      ranges.push_back({static_cast<int64_t>(random() % 1000), first,
                        first + static_cast<unsigned>(random() % 6)});
      plan.add(ranges.back().bytes, first, ranges.back().last);
    }
    plan.solve();
    for (unsigned i = 0; i < ranges.size(); ++i)
      for (unsigned j = 0; j < i; ++j) {
        const Range &a = ranges[i], &b = ranges[j];
        if (a.last < b.first || b.last < a.first)
          continue;
        EXPECT_TRUE(plan.offset(i) + a.bytes <= plan.offset(j) ||
                    plan.offset(j) + b.bytes <= plan.offset(i));
      }
    EXPECT_GE(plan.totalBytes(), plan.lowerBound());
    EXPECT_LE(plan.totalBytes(), 2 * plan.lowerBound());
  }
}
