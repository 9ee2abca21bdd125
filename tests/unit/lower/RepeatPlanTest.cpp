//===- RepeatPlanTest.cpp - What to compute once more ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/RepeatPlan.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace ft;

namespace {
struct Graph : RepeatProblem {
  unsigned value(int64_t bytes) {
    order.values.push_back({bytes});
    recipes.push_back(std::nullopt);
    return static_cast<unsigned>(order.values.size()) - 1;
  }
  /// A step that writes one new value; `cost` ≥ 0: it can be done again.
  unsigned step(std::initializer_list<unsigned> reads, int64_t bytes,
                double cost = -1) {
    unsigned v = value(bytes);
    order.steps.push_back({reads, {v}});
    if (cost >= 0)
      recipes[v] = Recipe{reads, cost};
    return v;
  }
  int64_t givenPeak() const {
    std::vector<unsigned> given(order.steps.size());
    std::iota(given.begin(), given.end(), 0);
    return peakOfOrder(order, given);
  }
};
} // namespace

/// Each read finds its value, made by a step or by a repetition; each step that
/// may not be left out runs, in the given order.
static void expectLegal(const RepeatProblem &problem,
                        const std::vector<PlayedStep> &play) {
  const OrderProblem &order = problem.order;
  std::vector<bool> isThere(order.values.size(), true);
  for (const OrderProblem::Step &step : order.steps)
    for (unsigned v : step.writes)
      isThere[v] = false;
  int last = -1;
  std::vector<bool> ran(order.steps.size(), false);
  for (const PlayedStep &played : play) {
    if (played.step >= 0) {
      EXPECT_LT(last, played.step);
      last = played.step;
      ran[played.step] = true;
      for (unsigned v : order.steps[played.step].reads)
        EXPECT_TRUE(isThere[v]);
      for (unsigned v : order.steps[played.step].writes)
        isThere[v] = true;
      continue;
    }
    ASSERT_TRUE(problem.recipes[played.value]);
    for (unsigned v : problem.recipes[played.value]->reads)
      EXPECT_TRUE(isThere[v]);
    isThere[played.value] = true;
  }
  for (size_t step = 0; step < ran.size(); ++step) {
    bool mayGo = !order.steps[step].isBarrier;
    for (unsigned v : order.steps[step].writes)
      mayGo &= problem.recipes[v].has_value();
    EXPECT_TRUE(ran[step] || mayGo);
  }
}

static int repetitions(const std::vector<PlayedStep> &play) {
  return static_cast<int>(std::count_if(
      play.begin(), play.end(), [](PlayedStep p) { return p.step < 0; }));
}

// The example of the header: while BIG is there, only s and c are.
TEST(RepeatPlan, ChainsGoWhileMemoryIsShort) {
  Graph g;
  unsigned s = g.value(100);
  unsigned a = g.step({s}, 100, 1), b = g.step({a}, 100, 1);
  unsigned c = g.step({b}, 100, 1);
  unsigned big = g.step({}, 1000);
  unsigned late = g.step({big, c}, 10);
  late = g.step({late, b}, 10);
  late = g.step({late, a}, 10);
  g.step({late, s}, 10);
  EXPECT_EQ(g.givenPeak(), 1410);
  std::vector<PlayedStep> play = planRepeats(g, 1210);
  expectLegal(g, play);
  EXPECT_EQ(peakOfPlay(g, play), 1210);
  EXPECT_EQ(repetitions(play), 2); // a, b
}

// Enough memory, or nothing that could go: the given order.
TEST(RepeatPlan, NothingGoesForNothing) {
  Graph g;
  unsigned s = g.value(100);
  unsigned a = g.step({s}, 100, 1);
  unsigned big = g.step({}, 1000);
  g.step({big, a}, 10);
  g.step({a, s}, 10);
  EXPECT_EQ(repetitions(planRepeats(g, 2000)), 0);
  g.recipes[a] = std::nullopt;
  EXPECT_EQ(repetitions(planRepeats(g, 500)), 0);
  EXPECT_EQ(peakOfPlay(g, planRepeats(g, 500)), g.givenPeak());
}

// Of two values that would do, the one that is made with less goes.
TEST(RepeatPlan, TheCheapOneGoes) {
  Graph g;
  unsigned s = g.value(10);
  unsigned dear = g.step({s}, 100, 50), cheap = g.step({s}, 100, 1);
  unsigned big = g.step({}, 1000);
  unsigned late = g.step({big, s}, 10);
  late = g.step({late, cheap}, 10);
  g.step({late, dear, s}, 10);
  std::vector<PlayedStep> play = planRepeats(g, 1130);
  expectLegal(g, play);
  EXPECT_LE(peakOfPlay(g, play), 1130);
  for (PlayedStep played : play)
    if (played.step < 0)
      EXPECT_EQ(played.value, cheap);
}

// What nothing reads before it is computed again is not made the first time.
TEST(RepeatPlan, WhatWouldBeInVainIsLeftOut) {
  Graph g;
  unsigned s = g.value(10);
  unsigned a = g.step({s}, 100, 1);
  unsigned big = g.step({}, 1000);
  unsigned late = g.step({big}, 10);
  g.step({late, a, s}, 10);
  std::vector<PlayedStep> play = planRepeats(g, 1020);
  expectLegal(g, play);
  EXPECT_EQ(play.size(), 4U);
  EXPECT_EQ(peakOfPlay(g, play), 1020);
}

// Backward of a chain of equal layers from its start alone: much less than all
// of it at once.
TEST(RepeatPlan, AChainNeedsItsRootOfMemory) {
  Graph g;
  std::vector<unsigned> layers = {g.value(100)};
  for (int i = 0; i < 64; ++i)
    layers.push_back(g.step({layers.back()}, 100, 1));
  unsigned late = g.step({layers.back()}, 100);
  for (int i = 64; i-- > 0;)
    late = g.step({late, layers[static_cast<size_t>(i)]}, 100);
  EXPECT_GE(g.givenPeak(), 6500);
  for (int64_t limit : {3000, 2000, 1500}) {
    std::vector<PlayedStep> play = planRepeats(g, limit);
    expectLegal(g, play);
    EXPECT_LE(peakOfPlay(g, play), limit);
    EXPECT_LE(repetitions(play), 64 * 5);
  }
}

TEST(RepeatPlan, RandomGraphs) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](unsigned n) { return unsigned(random() % n); };
    Graph g;
    for (int i = 0; i < 3; ++i)
      g.value(below(2) * 64 * (1 + below(8)));
    for (unsigned i = 0, n = 5 + below(40); i < n; ++i) {
      OrderProblem::Step step;
      for (unsigned k = 0, m = below(4); k < m; ++k) {
        unsigned v = below(static_cast<unsigned>(g.order.values.size()));
        if (std::find(step.reads.begin(), step.reads.end(), v) ==
            step.reads.end())
          step.reads.push_back(v);
      }
      step.isBarrier = below(20) == 0;
      for (unsigned k = 0, m = 1 + below(2); k < m; ++k) {
        unsigned v = g.value(64 * (1 + below(16)));
        g.order.values[v].stays = below(20) == 0;
        step.writes.push_back(v);
        if (!step.isBarrier && below(4) != 0)
          g.recipes[v] = Recipe{step.reads, double(1 + below(100))};
      }
      g.order.steps.push_back(step);
    }
    int64_t given = g.givenPeak();
    for (int percent : {100, 80, 60, 40, 0}) {
      std::vector<PlayedStep> play = planRepeats(g, given * percent / 100);
      expectLegal(g, play);
      EXPECT_LE(peakOfPlay(g, play), given) << "seed " << seed;
    }
  }
}
