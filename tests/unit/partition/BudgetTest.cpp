//===- BudgetTest.cpp - The least work within a number of bytes *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/Budget.h"

#include "gtest/gtest.h"

#include <random>

using namespace ft;

namespace {

/// A graph to cut, call by call; each makes one value.
struct GraphBuilder {
  CutGraph graph;

  /// Of the caller, free to keep.
  unsigned argument() {
    unsigned value = add({}, 0);
    graph.calls.back().isArgument = true;
    graph.calls.back().once = "an argument";
    graph.values.back().isFree = true;
    return value;
  }
  unsigned call(std::initializer_list<unsigned> operands, int64_t bytes) {
    return add(operands, bytes);
  }
  unsigned product(std::initializer_list<unsigned> operands, int64_t bytes,
                   double work) {
    unsigned value = add(operands, bytes);
    graph.calls.back().isExpensive = true;
    graph.calls.back().work = work;
    return value;
  }
  void need(unsigned value) { graph.values[value].isNeeded = true; }

  Cut within(int64_t budget) const {
    return BudgetSearch(graph, *cheapestCut(graph, {})).within(budget);
  }

private:
  unsigned add(llvm::ArrayRef<unsigned> operands, int64_t bytes) {
    CutValue value;
    value.call = static_cast<unsigned>(graph.calls.size());
    value.bytes = bytes;
    graph.calls.push_back({});
    graph.values.push_back(value);
    graph.operands.push_back(
        llvm::SmallVector<unsigned, 4>(operands.begin(), operands.end()));
    return value.call;
  }
};

/// x → p0 → p1 → …, products of growing work, all read by backward.
GraphBuilder chain(std::initializer_list<std::pair<int64_t, double>> products) {
  GraphBuilder b;
  unsigned last = b.argument();
  for (auto [bytes, work] : products)
    b.need(last = b.product({last}, bytes, work));
  return b;
}

TEST(BudgetTest, WithoutNeedNothingExpensiveIsDoneTwice) {
  GraphBuilder b = chain({{10, 100}, {10, 200}, {10, 300}});
  Cut cut = b.within(30);
  EXPECT_EQ(cut.bytes, 30);
  EXPECT_EQ(cut.work, 0);
}

TEST(BudgetTest, DoesTheCheapestAgain) {
  GraphBuilder b = chain({{10, 100}, {10, 200}, {10, 300}});
  Cut two = b.within(20), one = b.within(19), none = b.within(0);
  EXPECT_EQ(two.bytes, 20);
  EXPECT_EQ(two.work, 100);
  EXPECT_EQ(one.bytes, 10);
  EXPECT_EQ(one.work, 300);
  EXPECT_EQ(none.bytes, 0);
  EXPECT_EQ(none.work, 600);
}

/// Of three values of 5 bytes 9 bytes take one: bytes are added as they are,
/// not as rounded shares of all.
TEST(BudgetTest, NeverKeepsMoreThanTheBudget) {
  GraphBuilder b = chain({{5, 1}, {5, 1}, {5, 1}});
  EXPECT_EQ(b.within(9).bytes, 5);
  EXPECT_EQ(b.within(4).bytes, 0);
}

TEST(BudgetTest, KeepsWhatHasToBe) {
  GraphBuilder b = chain({{8, 50}});
  unsigned random = b.call({0}, 16);
  b.graph.calls[random].once = "it draws random numbers";
  b.need(random);
  EXPECT_EQ(b.within(24).bytes, 24);
  EXPECT_EQ(b.within(23).bytes, 16);
  // The smallest, where nothing else fits.
  EXPECT_EQ(b.within(3).bytes, 16);
}

/// A value that makes another unnecessary: the product behind a cheap chain is
/// kept once, not with what it is made of.
TEST(BudgetTest, SeesWhatAKeptValueSaves) {
  GraphBuilder b;
  unsigned x = b.argument();
  unsigned first = b.product({x}, 40, 1000);
  unsigned second = b.product({first}, 10, 1000);
  b.need(b.call({second}, 100));
  Cut cut = b.within(10);
  EXPECT_TRUE(cut.kept.test(second));
  EXPECT_FALSE(cut.again.test(first));
  EXPECT_EQ(cut.work, 0);
}

/// Each choice of what is done again, and the least work within the bytes.
std::optional<double> leastWork(const CutGraph &graph, int64_t budget) {
  auto calls = static_cast<unsigned>(graph.calls.size());
  std::optional<double> least;
  for (unsigned again = 0; again < 1u << calls; ++again) {
    bool isPossible = true;
    double work = 0;
    int64_t bytes = 0;
    std::vector<bool> wanted(graph.values.size());
    for (size_t v = 0; v < graph.values.size(); ++v)
      wanted[v] = graph.values[v].isNeeded;
    for (unsigned i = 0; i < calls; ++i) {
      if (!(again >> i & 1))
        continue;
      isPossible &= !graph.calls[i].once;
      work += graph.calls[i].isExpensive ? graph.calls[i].work : 0;
      for (unsigned operand : graph.operands[i])
        wanted[operand] = true;
    }
    for (size_t v = 0; v < graph.values.size(); ++v)
      if (wanted[v] && !graph.values[v].isFree &&
          !(again >> graph.values[v].call & 1)) {
        bytes += graph.values[v].bytes;
        isPossible &= !graph.values[v].notKept;
      }
    if (isPossible && bytes <= budget && (!least || work < *least))
      least = work;
  }
  return least;
}

TEST(BudgetTest, IsNearTheBestOfAllChoices) {
  std::mt19937 random(8);
  auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  int equal = 0, all = 0;
  for (int round = 0; round < 300; ++round) {
    GraphBuilder b;
    unsigned count = 4 + below(7);
    b.argument();
    for (unsigned i = 1; i < count; ++i) {
      unsigned a = below(i), c = below(i);
      int64_t bytes = 1 + below(20);
      if (below(3))
        b.product({a, c}, bytes, 1 + below(50));
      else
        b.call({a, c}, bytes);
      if (below(10) == 0)
        b.graph.calls.back().once = "it draws random numbers";
      if (below(2))
        b.need(i);
    }
    BudgetSearch search(b.graph, *cheapestCut(b.graph, {}));
    EXPECT_EQ(leastWork(b.graph, search.smallest().bytes - 1), std::nullopt);
    Cut before = search.full();
    for (int64_t budget = search.full().bytes;
         budget >= search.smallest().bytes; --budget) {
      Cut cut = search.within(budget);
      EXPECT_LE(cut.bytes, budget);
      std::optional<double> best = leastWork(b.graph, budget);
      ASSERT_TRUE(best);
      EXPECT_GE(cut.work, *best);
      ++all;
      equal += cut.work == *best;
      // A fresh search, which has seen no other budget, agrees.
      EXPECT_EQ(b.within(budget).work, cut.work);
      // Less memory takes no less work.
      EXPECT_LE(cut.bytes, before.bytes);
      EXPECT_GE(cut.work, before.work);
      before = cut;
    }
  }
  // Filling is a heuristic: a knapsack.
  EXPECT_GE(equal, all * 9 / 10) << equal << " of " << all;
}

} // namespace
