//===- KernelOrderTest.cpp - In which order kernels need least memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/KernelOrder.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace ft;

namespace {
struct Graph : OrderProblem {
  unsigned value(int64_t bytes) {
    values.push_back({bytes});
    return static_cast<unsigned>(values.size()) - 1;
  }
  /// A step that writes one new value.
  unsigned step(std::initializer_list<unsigned> reads, int64_t bytes) {
    unsigned v = value(bytes);
    steps.push_back({reads, {v}});
    return v;
  }
  std::vector<unsigned> given() const {
    std::vector<unsigned> order(steps.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
};
} // namespace

static void expectLegal(const OrderProblem &problem,
                        const std::vector<unsigned> &order) {
  ASSERT_EQ(order.size(), problem.steps.size());
  std::vector<size_t> at(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    at[order[i]] = i;
  std::vector<int> writer(problem.values.size(), -1);
  for (unsigned step = 0; step < problem.steps.size(); ++step) {
    for (unsigned v : problem.steps[step].reads)
      if (writer[v] >= 0)
        EXPECT_LT(at[static_cast<unsigned>(writer[v])], at[step]);
    for (unsigned v : problem.steps[step].writes)
      writer[v] = static_cast<int>(step);
    if (problem.steps[step].isBarrier)
      EXPECT_EQ(at[step], step);
  }
}

// The example of the header.
TEST(KernelOrder, ASumRunsBehindWhatItReads) {
  Graph g;
  unsigned x = g.value(0);
  unsigned a = g.step({x}, 1000), b = g.step({x}, 1000);
  unsigned sa = g.step({a}, 4), sb = g.step({b}, 4);
  g.step({sa, sb}, 4);
  EXPECT_EQ(peakOfOrder(g, g.given()), 2004);
  std::vector<unsigned> order = orderForPeak(g);
  expectLegal(g, order);
  EXPECT_EQ(peakOfOrder(g, order), 1008);
}

// What is only needed at the end is made at the end.
TEST(KernelOrder, AMaskWaitsForItsReader) {
  Graph g;
  unsigned x = g.value(0);
  unsigned mask = g.step({x}, 500);
  unsigned a = g.step({x}, 1000);
  unsigned b = g.step({a}, 1000);
  unsigned c = g.step({b}, 10);
  g.step({c, mask}, 500);
  std::vector<unsigned> order = orderForPeak(g);
  expectLegal(g, order);
  EXPECT_EQ(peakOfOrder(g, g.given()), 2500);
  EXPECT_EQ(peakOfOrder(g, order), 2000);
}

// Backward of a layer: the gradient of the weight, in the caller's memory,
// lets go of the saved value before the next gradient is made.
TEST(KernelOrder, SavedValuesAreFreedFirst) {
  Graph g;
  unsigned saved = g.value(1000), tangent = g.value(0);
  unsigned gradient = g.step({tangent}, 1000);
  unsigned next = g.step({gradient}, 1000);
  g.step({gradient, saved}, 0);
  g.step({next}, 0);
  std::vector<unsigned> order = orderForPeak(g);
  expectLegal(g, order);
  EXPECT_EQ(peakOfOrder(g, g.given()), 3000);
  EXPECT_EQ(peakOfOrder(g, order), 2000);
}

TEST(KernelOrder, NothingMovesAcrossABarrier) {
  Graph g;
  unsigned x = g.value(0);
  unsigned a = g.step({x}, 1000), b = g.step({x}, 1000);
  g.steps.push_back({{}, {}, true});
  unsigned sa = g.step({a}, 4), sb = g.step({b}, 4);
  g.step({sa, sb}, 4);
  std::vector<unsigned> order = orderForPeak(g);
  expectLegal(g, order);
  EXPECT_EQ(peakOfOrder(g, order), 2004);
}

TEST(KernelOrder, AGoodOrderStaysAsItIs) {
  Graph g;
  unsigned v = g.value(0);
  for (int i = 0; i < 10; ++i)
    v = g.step({v}, 100);
  EXPECT_EQ(orderForPeak(g), g.given());
}

TEST(KernelOrder, RandomGraphsNeverGetWorse) {
  std::mt19937 random(11);
  int better = 0;
  for (int round = 0; round < 300; ++round) {
    Graph g;
    std::vector<unsigned> made{g.value(100)};
    for (int i = 0; i < 30; ++i) {
      OrderProblem::Step step;
      for (unsigned k = 0; k < 1 + random() % 3; ++k)
        if (unsigned v = made[random() % made.size()];
            std::find(step.reads.begin(), step.reads.end(), v) ==
            step.reads.end())
          step.reads.push_back(v);
      made.push_back(g.value(random() % 1000));
      g.values.back().stays = random() % 8 == 0;
      step.writes.push_back(made.back());
      step.isBarrier = random() % 16 == 0;
      g.steps.push_back(step);
    }
    std::vector<unsigned> order = orderForPeak(g);
    expectLegal(g, order);
    EXPECT_LE(peakOfOrder(g, order), peakOfOrder(g, g.given()));
    better += peakOfOrder(g, order) < peakOfOrder(g, g.given());
  }
  EXPECT_GT(better, 200);
}

// A chain of 10^5 steps with a value that each leaves for the end.
TEST(KernelOrder, ManySteps) {
  Graph g;
  unsigned v = g.value(0);
  std::vector<unsigned> saved;
  for (int i = 0; i < 50000; ++i)
    saved.push_back(v = g.step({v}, 100));
  for (int i = 50000; i-- > 0;)
    v = g.step({v, saved[static_cast<size_t>(i)]}, 100);
  EXPECT_EQ(orderForPeak(g).size(), g.steps.size());
}
