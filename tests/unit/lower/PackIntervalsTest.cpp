//===- PackIntervalsTest.cpp - Blocks that live for a while ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/PackIntervals.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

using ft::Interval;

static bool meet(const Interval &a, const Interval &b) {
  return a.first <= b.last && b.first <= a.last &&
         a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

// A training step: n layers save a block each, backward frees them in reverse,
// with one gradient at a time.
static std::vector<Interval> trainingStep(unsigned n) {
  std::vector<Interval> all;
  for (unsigned i = 0; i < n; ++i) {
    all.push_back({64 * (1 + i % 7), i, 2 * n - i});     // saved
    all.push_back({64 * (1 + i % 5), i, i + 1});         // of forward
    all.push_back({64 * (1 + i % 3), n + i, n + i + 1}); // of backward
  }
  return all;
}

TEST(PackIntervals, ATrainingStepEndsNearTheBound) {
  std::vector<Interval> all = trainingStep(200);
  int64_t end = ft::packIntervals(all);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(meet(all[i], all[j])) << i << " " << j;
  EXPECT_LE(static_cast<double>(end), 1.01 * ft::mostLive(all));
}

// Early layers have the largest values, late ones the largest weights, which
// are needed in another order for a moment: by size alone a gap stays.
TEST(PackIntervals, LargeBlocksOfTwoKindsEndNearTheBound) {
  std::vector<Interval> all;
  unsigned n = 40;
  for (unsigned i = 0; i < n; ++i) {
    int64_t value = 64 * (n - i) * (n - i), weight = 64 * i * i;
    all.push_back({value, i, 4 * n - 2 * i});
    all.push_back({value / 2, 4 * n - 2 * i - 1, 4 * n - 2 * i + 1});
    all.push_back({value, 4 * n - 2 * i, 4 * n - 2 * i + 2});
    all.push_back({weight, 4 * n - 2 * i, 4 * n - 2 * i});
  }
  int64_t end = ft::packIntervals(all);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(meet(all[i], all[j])) << i << " " << j;
  EXPECT_LE(static_cast<double>(end), 1.01 * ft::mostLive(all));
}

// Many blocks go another way, which looks at each once: neighbours in time are
// compared here, all pairs would take too long.
TEST(PackIntervals, ManyBlocksDoNotOverlap) {
  std::vector<Interval> all = trainingStep(40000);
  int64_t end = ft::packIntervals(all);
  EXPECT_GE(end, ft::mostLive(all));
  EXPECT_LE(static_cast<double>(end), 1.1 * ft::mostLive(all));
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    unsigned step = random() % 80000;
    std::vector<Interval> live;
    for (const Interval &b : all)
      if (b.first <= step && step <= b.last)
        live.push_back(b);
    std::sort(live.begin(), live.end(),
              [](const Interval &a, const Interval &b) {
                return a.offset < b.offset;
              });
    for (size_t k = 1; k < live.size(); ++k)
      ASSERT_LE(live[k - 1].offset + live[k - 1].size, live[k].offset);
  }
}

TEST(PackIntervals, NothingTakesNothing) {
  std::vector<Interval> none;
  EXPECT_EQ(ft::packIntervals(none), 0);
  EXPECT_EQ(ft::mostLive(none), 0);
}
