//===- KernelOrder.cpp - In which order kernels need least memory ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/KernelOrder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace ft {

using Order = std::vector<unsigned>;

namespace {
/// Which values are live while steps run one after the other.
class LiveBytes {
public:
  explicit LiveBytes(const OrderProblem &problem)
      : problem(problem), readers(problem.values.size(), 0) {
    std::vector<bool> written(problem.values.size(), false);
    for (const OrderProblem::Step &step : problem.steps) {
      for (unsigned v : step.reads)
        ++readers[v];
      for (unsigned v : step.writes)
        written[v] = true;
    }
    for (auto [v, value] : llvm::enumerate(problem.values))
      if (!written[v] && (readers[v] || value.stays))
        live += value.bytes;
  }

  /// What the step would write, and free.
  int64_t grown(unsigned step) const {
    int64_t bytes = 0;
    for (unsigned v : problem.steps[step].writes)
      bytes += problem.values[v].bytes;
    return bytes;
  }
  int64_t freed(unsigned step) const {
    int64_t bytes = 0;
    for (unsigned v : problem.steps[step].reads)
      if (readers[v] == 1 && !problem.values[v].stays)
        bytes += problem.values[v].bytes;
    for (unsigned v : problem.steps[step].writes)
      if (readers[v] == 0 && !problem.values[v].stays)
        bytes += problem.values[v].bytes;
    return bytes;
  }

  /// Runs the step; `last` is told values that only one step reads from now on.
  template <typename Last>
  void run(unsigned step, Last last) {
    int64_t less = freed(step);
    live += grown(step);
    peak = std::max(peak, live);
    live -= less;
    for (unsigned v : problem.steps[step].reads)
      if (--readers[v] == 1)
        last(v);
  }

  int64_t peak = 0;

private:
  const OrderProblem &problem;
  std::vector<unsigned> readers;
  int64_t live = 0;
};
} // namespace

int64_t peakOfOrder(const OrderProblem &problem, const Order &order) {
  LiveBytes live(problem);
  for (unsigned step : order)
    live.run(step, [](unsigned) {});
  return live.peak;
}

namespace {
enum class Choose { Eager, Least };

/// Makes an order by running, of the steps that can, the best one.
class ListScheduler {
public:
  /// `rank`: of equally good steps, the one of lower rank.
  ListScheduler(const OrderProblem &problem, const Order &rank, Choose choose)
      : problem(problem), choose(choose), live(problem), rank(rank.size()),
        missing(rank.size(), 0), done(rank.size(), false),
        readersOf(problem.values.size()) {
    for (auto [position, step] : llvm::enumerate(rank))
      this->rank[step] = static_cast<unsigned>(position);
    connect();
  }

  Order run() {
    Order order;
    for (unsigned step = 0; step < problem.steps.size(); ++step)
      if (missing[step] == 0)
        add(step);
    while (!ready.empty()) {
      unsigned step = ready.begin()->second;
      ready.erase(ready.begin());
      done[step] = true;
      order.push_back(step);
      live.run(step, [&](unsigned value) { lastReader(value); });
      for (unsigned next : after[step])
        if (--missing[next] == 0)
          add(next);
    }
    return order;
  }

private:
  using Key = std::pair<int64_t, unsigned>;

  void connect() {
    auto count = static_cast<unsigned>(problem.steps.size());
    after.resize(count);
    std::vector<int64_t> writer(problem.values.size(), -1);
    auto edge = [&](unsigned from, unsigned to) {
      after[from].push_back(to);
      ++missing[to];
    };
    int64_t barrier = -1;
    for (unsigned step = 0; step < count; ++step) {
      const OrderProblem::Step &s = problem.steps[step];
      for (unsigned v : s.reads) {
        readersOf[v].push_back(step);
        if (writer[v] >= 0 && writer[v] != step)
          edge(static_cast<unsigned>(writer[v]), step);
      }
      for (unsigned v : s.writes)
        writer[v] = step;
      // Everything since the last barrier, then this one, then the rest.
      if (barrier >= 0)
        edge(static_cast<unsigned>(barrier), step);
      if (!s.isBarrier)
        continue;
      for (int64_t before = barrier + 1; before < step; ++before)
        edge(static_cast<unsigned>(before), step);
      barrier = step;
    }
  }

  Key keyOf(unsigned step) const {
    int64_t grows = live.grown(step) - live.freed(step);
    if (choose == Choose::Least)
      return {grows, rank[step]};
    return {grows < 0 ? 0 : 1, rank[step]};
  }
  void add(unsigned step) {
    key.resize(problem.steps.size());
    key[step] = keyOf(step);
    ready.insert({key[step], step});
  }
  /// One reader is left, and frees the value when it runs.
  void lastReader(unsigned value) {
    for (unsigned step : readersOf[value])
      if (!done[step] && missing[step] == 0) {
        ready.erase({key[step], step});
        add(step);
      }
  }

  const OrderProblem &problem;
  Choose choose;
  LiveBytes live;
  std::vector<unsigned> rank, missing;
  std::vector<bool> done;
  std::vector<llvm::SmallVector<unsigned, 2>> readersOf, after;
  std::vector<Key> key;
  std::set<std::pair<Key, unsigned>> ready;
};
} // namespace

/// The given order, but steps that add to what is live wait for their first
/// reader (those that free as much as they write keep their place).
static Order sinkGrowingSteps(const OrderProblem &problem) {
  auto count = static_cast<unsigned>(problem.steps.size());
  std::vector<unsigned> firstReader(problem.values.size(), count);
  std::vector<unsigned> readers(problem.values.size(), 0);
  for (unsigned step = count; step-- > 0;)
    for (unsigned v : problem.steps[step].reads) {
      firstReader[v] = step;
      ++readers[v];
    }
  // Where each step goes: in front of step `place`, those that come later in
  // the given order behind the others.
  std::vector<std::pair<unsigned, unsigned>> placed(count);
  std::vector<unsigned> place(count);
  for (unsigned step = count; step-- > 0;) {
    const OrderProblem::Step &s = problem.steps[step];
    int64_t grows = 0;
    unsigned first = count;
    for (unsigned v : s.writes) {
      grows += problem.values[v].bytes;
      if (firstReader[v] < count)
        first = std::min(first, place[firstReader[v]]);
    }
    for (unsigned v : s.reads)
      if (readers[v] == 1 && !problem.values[v].stays)
        grows -= problem.values[v].bytes;
    bool sinks = grows > 0 && first < count && !s.isBarrier;
    place[step] = sinks ? first : step;
    placed[step] = {place[step], step};
  }
  std::sort(placed.begin(), placed.end());
  Order order;
  for (auto [at, step] : placed)
    order.push_back(step);
  return order;
}

Order orderForPeak(const OrderProblem &problem) {
  Order given(problem.steps.size());
  std::iota(given.begin(), given.end(), 0);
  Order best = given;
  int64_t least = peakOfOrder(problem, given);
  auto attempt = [&](const Order &rank, Choose choose) {
    Order order = ListScheduler(problem, rank, choose).run();
    int64_t peak = peakOfOrder(problem, order);
    if (order.size() == given.size() && peak < least) {
      least = peak;
      best = std::move(order);
    }
  };
  attempt(given, Choose::Eager);
  attempt(sinkGrowingSteps(problem), Choose::Eager);
  attempt(given, Choose::Least);
  return best;
}

} // namespace ft
