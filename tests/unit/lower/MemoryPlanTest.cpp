//===- MemoryPlanTest.cpp - Offsets of buffers in one arena ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/MemoryPlan.h"

#include <gtest/gtest.h>
#include <random>

using ft::Dim;
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
  EXPECT_EQ(plan.offset(second).value() % MemoryPlan::kAlignment, 0);
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
        EXPECT_TRUE(plan.offset(i).value() + a.bytes <=
                        plan.offset(j).value() ||
                    plan.offset(j).value() + b.bytes <= plan.offset(i).value());
      }
    EXPECT_GE(plan.totalBytes(), plan.lowerBound());
    EXPECT_LE(plan.totalBytes(), 2 * plan.lowerBound());
  }
}

//===--- In place ---------------------------------------------------------===//

// y = f(x), z = g(y), each in the memory of what it reads.
TEST(MemoryPlan, TiedBuffersShareTheirBytes) {
  MemoryPlan plan;
  unsigned x = plan.add(1024, 0, 1);
  unsigned y = plan.add(1024, 1, 2);
  unsigned z = plan.add(1024, 2, 3);
  EXPECT_TRUE(plan.tie(y, x));
  EXPECT_TRUE(plan.tie(z, y));
  plan.solve();
  EXPECT_EQ(plan.totalBytes(), 1024);
  EXPECT_FALSE(plan.isInPlace(x));
  EXPECT_TRUE(plan.isInPlace(y));
  EXPECT_TRUE(plan.isInPlace(z));
}

TEST(MemoryPlan, TiesAskForTheSameSizeAndMeetingLives) {
  MemoryPlan plan;
  unsigned x = plan.add(1024, 0, 1);
  unsigned small = plan.add(512, 1, 2);
  unsigned later = plan.add(1024, 2, 3);
  unsigned y = plan.add(1024, 1, 2);
  EXPECT_FALSE(plan.tie(small, x));
  EXPECT_FALSE(plan.tie(later, x));
  EXPECT_TRUE(plan.tie(y, x));
  unsigned other = plan.add(1024, 1, 2);
  EXPECT_FALSE(plan.tie(other, x)); // y has it
}

// Where ties save nothing they are left alone.
TEST(MemoryPlan, TiesThatDoNotLowerThePeakAreNotUsed) {
  MemoryPlan plan;
  unsigned x = plan.add(64, 0, 1);
  unsigned y = plan.add(64, 1, 2);
  plan.add(4096, 3, 3);
  EXPECT_TRUE(plan.tie(y, x));
  plan.solve();
  EXPECT_EQ(plan.totalBytes(), 4096);
  EXPECT_FALSE(plan.isInPlace(y));
}

//===--- Sizes of the run -------------------------------------------------===//

// The example of the header: the whole is s0 times the plan for one.
TEST(MemoryPlan, MultiplesOfOneSizeArePackedLikeNumbers) {
  ft::SymContext context;
  Dim s0(context.symbol("s0"));
  MemoryPlan plan;
  unsigned a = plan.add(Dim(1024) * s0, 4096, 0, 1);
  unsigned b = plan.add(Dim(512) * s0, 2048, 1, 2);
  unsigned c = plan.add(Dim(1024) * s0, 4096, 2, 3);
  unsigned number = plan.add(100, 0, 3);
  plan.solve();
  ASSERT_EQ(plan.slotBytes().size(), 1U);
  EXPECT_EQ(plan.slotBytes()[0].str(), "1536*s0");
  EXPECT_EQ(plan.offset(a).str(), "0");
  EXPECT_EQ(plan.offset(b).str(), "1024*s0");
  EXPECT_EQ(plan.offset(c).str(), "0");
  EXPECT_EQ(plan.offset(number).str(), "0");
  EXPECT_EQ(plan.slot(number), -1);
  EXPECT_EQ(plan.arenaBytes().str(), "1536*s0 + 128");
  EXPECT_EQ(plan.estimatedBytes(), 6144 + 128);
}

// Sizes that have nothing in common share a slot where that takes less.
TEST(MemoryPlan, SlotsAreAsLargeAsTheLargestOfTheirBuffers) {
  ft::SymContext context;
  Dim s0(context.symbol("s0")), s1(context.symbol("s1"));
  MemoryPlan plan;
  plan.add(Dim(1024) * s0, 10240, 0, 1);
  plan.add(Dim(1024) * s1, 10240, 2, 3);
  plan.solve();
  ASSERT_EQ(plan.slotBytes().size(), 1U);
  EXPECT_EQ(plan.estimatedBytes(), 10240);
}

// What needs sizes that a later program is not told stands last.
TEST(MemoryPlan, SlotsOfToldSizesComeFirst) {
  ft::SymContext context;
  Dim s0(context.symbol("s0")), s1(context.symbol("s1"));
  MemoryPlan plan;
  unsigned unknown = plan.add(Dim(1024) * s1, 10240, 0, 1);
  unsigned known = plan.add(Dim(1024) * s0, 10240, 2, 3);
  llvm::StringSet<> told;
  told.insert("s0");
  plan.solve(&told);
  EXPECT_EQ(plan.toldSlots(), 1U);
  EXPECT_EQ(plan.slot(known), 0);
  EXPECT_EQ(plan.slot(unknown), 1);
}
