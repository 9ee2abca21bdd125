//===- MinCutTest.cpp - The cheapest cut of a directed graph ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/MinCut.h"

#include "gtest/gtest.h"

#include <random>

using namespace ft;

namespace {

struct Edge {
  unsigned from, to;
  MinCut::Capacity capacity;
};

MinCut graph(unsigned nodes, const std::vector<Edge> &edges) {
  MinCut cut;
  for (unsigned n = 0; n < nodes; ++n)
    cut.addNode();
  for (const Edge &e : edges)
    cut.addEdge(e.from, e.to, e.capacity);
  return cut;
}

/// The cost of the cut with the nodes of a bit set on the sink's side.
MinCut::Capacity costOf(unsigned sinkSide, const std::vector<Edge> &edges) {
  MinCut::Capacity cost = 0;
  for (const Edge &e : edges) {
    bool cut = !(sinkSide >> e.from & 1) && (sinkSide >> e.to & 1);
    if (cut && e.capacity == MinCut::kInfinite)
      return MinCut::kInfinite;
    cost += cut ? e.capacity : 0;
  }
  return cost;
}

TEST(MinCutTest, CutsWhereItIsCheapest) {
  // 0 is the source, 3 the sink.
  MinCut cut = graph(4, {{0, 1, 3}, {1, 3, 1}, {0, 2, 2}, {2, 3, 4}});
  EXPECT_EQ(cut.solve(0, 3), 3);
  EXPECT_FALSE(cut.onSinkSide(1));
  EXPECT_TRUE(cut.onSinkSide(2));
}

TEST(MinCutTest, OfEqualCutsTheOneNearestToTheSink) {
  MinCut cut = graph(4, {{0, 1, 2}, {1, 2, 2}, {2, 3, 2}});
  EXPECT_EQ(cut.solve(0, 3), 2);
  EXPECT_FALSE(cut.onSinkSide(1));
  EXPECT_FALSE(cut.onSinkSide(2));
}

TEST(MinCutTest, SaysWhichPathIsInfinite) {
  MinCut::Capacity inf = MinCut::kInfinite;
  MinCut cut =
      graph(5, {{0, 1, inf}, {1, 2, 7}, {1, 3, inf}, {2, 4, inf}, {3, 2, inf}});
  EXPECT_EQ(cut.solve(0, 4), inf);
  EXPECT_EQ(cut.infinitePath(), (std::vector<unsigned>{0, 1, 3, 2, 4}));
}

TEST(MinCutTest, NothingBetweenSourceAndSink) {
  MinCut cut = graph(3, {{0, 1, 5}, {2, 1, 5}});
  EXPECT_EQ(cut.solve(0, 2), 0);
  EXPECT_FALSE(cut.onSinkSide(0));
  EXPECT_FALSE(cut.onSinkSide(1));
  EXPECT_TRUE(cut.onSinkSide(2));
}

TEST(MinCutTest, IsAsCheapAsTheBestOfAllCuts) {
  std::mt19937 random(8);
  auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (int round = 0; round < 1000; ++round) {
    unsigned nodes = 2 + below(13);
    std::vector<Edge> edges(below(4 * nodes));
    for (Edge &e : edges)
      e = {below(nodes), below(nodes),
           below(5) ? static_cast<MinCut::Capacity>(below(12))
                    : MinCut::kInfinite};
    MinCut cut = graph(nodes, edges);
    MinCut::Capacity cost = cut.solve(0, nodes - 1);

    MinCut::Capacity best = MinCut::kInfinite;
    unsigned fewest = ~0u; // what all the cheapest have on the sink's side
    for (unsigned inner = 0; inner < 1u << (nodes - 2); ++inner) {
      unsigned sinkSide = inner << 1 | 1u << (nodes - 1);
      MinCut::Capacity c = costOf(sinkSide, edges);
      if (c < best)
        best = c, fewest = ~0u;
      if (c == best)
        fewest &= sinkSide;
    }
    ASSERT_EQ(cost, best) << "round " << round;
    if (cost == MinCut::kInfinite)
      continue;
    for (unsigned n = 0; n < nodes; ++n)
      ASSERT_EQ(cut.onSinkSide(n), bool(fewest >> n & 1)) << "round " << round;
  }
}

// Shapes that are slow for methods that look for one path at a time.
TEST(MinCutTest, HundredThousandNodes) {
  const unsigned n = 100000;
  std::mt19937 random(8);
  MinCut chain, layers;
  for (unsigned i = 0; i < n + 2; ++i)
    chain.addNode(), layers.addNode();
  for (unsigned i = 0; i < n; ++i) {
    // Each node of the chain may be cut off from the source for a little.
    chain.addEdge(n, i, 1);
    if (i + 1 < n)
      chain.addEdge(i, i + 1, 1 << 20);
    layers.addEdge(n, i, random() % 3 ? 0 : random() % 50);
    layers.addEdge(i, n + 1, random() % 3 ? 0 : random() % 50);
    for (int k = 0; k < 3; ++k)
      layers.addEdge(i, std::min(n - 1, i + 1 + unsigned(random() % 100)),
                     random() % 4 ? random() % 40 : MinCut::kInfinite);
  }
  chain.addEdge(n - 1, n + 1, 90000);
  EXPECT_EQ(chain.solve(n, n + 1), 90000);
  EXPECT_LT(layers.solve(n, n + 1), MinCut::kInfinite);
}

} // namespace
