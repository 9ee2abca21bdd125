//===- PackIntervals.cpp - Blocks that live for a while, in one array -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/PackIntervals.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>
#include <vector>

namespace ft {

/// Beyond this, comparing each block with all placed ones takes too long.
static constexpr size_t kExact = 4096;
/// How many comparisons of two blocks improving an order may take (about 20
/// ms), and after how many orders that are no better it ends.
static constexpr int64_t kMostComparisons = 12'000'000;
static constexpr unsigned kPatience = 256;

using Order = std::vector<unsigned>;

namespace {
/// Places blocks in a given order, each at the lowest offset at which it fits.
class LowestFit {
public:
  int64_t place(llvm::MutableArrayRef<Interval> all, const Order &order);
  /// Of two blocks, so far.
  int64_t comparisons = 0;

private:
  struct Placed {
    unsigned first, last;
    int64_t offset, end;
  };
  /// By offset.
  std::vector<Placed> placed;
};
} // namespace

int64_t LowestFit::place(llvm::MutableArrayRef<Interval> all,
                         const Order &order) {
  int64_t end = 0;
  placed.clear();
  for (unsigned id : order) {
    Interval &b = all[id];
    b.offset = 0;
    const Placed *other = placed.data(), *stop = other + placed.size();
    for (; other != stop; ++other) {
      if (other->last < b.first || b.last < other->first)
        continue;
      if (b.offset + b.size <= other->offset)
        break;
      b.offset = std::max(b.offset, other->end);
    }
    comparisons += other - placed.data();
    end = std::max(end, b.offset + b.size);
    auto at = std::upper_bound(
        placed.begin(), placed.end(), b.offset,
        [](int64_t offset, const Placed &p) { return offset < p.offset; });
    placed.insert(at, {b.first, b.last, b.offset, b.offset + b.size});
  }
  return end;
}

namespace {
/// The free parts of an array that grows at its end.
class FreeSpace {
public:
  int64_t take(int64_t size) {
    auto fit = bySize.lower_bound({size, 0});
    if (fit != bySize.end()) {
      auto [have, at] = *fit;
      drop(at);
      if (have > size)
        put(at + size, have - size);
      return at;
    }
    // A gap that ends with the array grows with it.
    int64_t at = end;
    if (!byOffset.empty()) {
      auto [offset, have] = *byOffset.rbegin();
      if (offset + have == end) {
        at = offset;
        drop(offset);
      }
    }
    end = at + size;
    return at;
  }

  void give(int64_t at, int64_t size) {
    auto next = byOffset.lower_bound(at);
    if (next != byOffset.end() && next->first == at + size) {
      size += next->second;
      drop(next->first);
    }
    auto before = byOffset.lower_bound(at);
    if (before != byOffset.begin()) {
      --before;
      if (before->first + before->second == at) {
        at = before->first;
        size += before->second;
        drop(at);
      }
    }
    put(at, size);
  }

  int64_t end = 0;

private:
  void put(int64_t at, int64_t size) {
    byOffset[at] = size;
    bySize.insert({size, at});
  }
  void drop(int64_t at) {
    auto it = byOffset.find(at);
    bySize.erase({it->second, at});
    byOffset.erase(it);
  }
  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
};
} // namespace

/// Step by step, each in the smallest gap. `order` is by first step.
static int64_t placeBySteps(llvm::MutableArrayRef<Interval> all,
                            const Order &order) {
  FreeSpace space;
  using Death = std::pair<unsigned, unsigned>; // last step, interval
  std::priority_queue<Death, std::vector<Death>, std::greater<>> alive;
  for (unsigned id : order) {
    Interval &b = all[id];
    while (!alive.empty() && alive.top().first < b.first) {
      const Interval &dead = all[alive.top().second];
      space.give(dead.offset, dead.size);
      alive.pop();
    }
    if (b.size == 0)
      continue;
    b.offset = space.take(b.size);
    alive.push({b.last, id});
  }
  return space.end;
}

int64_t mostLive(llvm::ArrayRef<Interval> intervals) {
  unsigned steps = 0;
  for (const Interval &b : intervals)
    steps = std::max(steps, b.last + 1);
  std::vector<int64_t> change(steps + 1, 0);
  for (const Interval &b : intervals) {
    change[b.first] += b.size;
    change[b.last + 1] -= b.size;
  }
  int64_t live = 0, most = 0;
  for (int64_t c : change)
    most = std::max(most, live += c);
  return most;
}

/// Places again and again, each time the block that reaches highest earlier:
/// before the half of those that were placed before it, or first of all. True
/// if `tried` says that it need not get better.
template <typename Tried>
static bool improve(llvm::MutableArrayRef<Interval> all, Order order,
                    LowestFit &fit, int64_t comparisons, Tried tried) {
  int64_t best = -1;
  comparisons += fit.comparisons;
  for (unsigned i = 0, since = 0;
       fit.comparisons < comparisons && since < kPatience; ++i, ++since) {
    int64_t end = fit.place(all, order);
    if (tried(end))
      return true;
    if (best < 0 || end < best) {
      best = end;
      since = 0;
    }
    auto top = std::find_if(order.begin(), order.end(), [&](unsigned id) {
      return all[id].offset + all[id].size == end;
    });
    auto before = order.begin() + (i % 3 ? (top - order.begin()) / 2 : 0);
    std::rotate(before, top, top + 1);
  }
  return false;
}

int64_t packIntervals(llvm::MutableArrayRef<Interval> all, int64_t useful) {
  Order order(all.size());
  std::iota(order.begin(), order.end(), 0);
  auto by = [&](auto key) {
    std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
      return std::pair(key(all[a]), a) < std::pair(key(all[b]), b);
    });
  };
  auto first = [](const Interval &b) { return b.first; };
  if (all.size() > kExact) {
    by(first);
    return placeBySteps(all, order);
  }
  int64_t bound = mostLive(all), best = -1;
  LowestFit fit;
  std::vector<Interval> chosen;
  auto tried = [&](int64_t end) {
    if (best < 0 || end < best) {
      best = end;
      chosen.assign(all.begin(), all.end());
    }
    return best == bound || bound > useful;
  };
  by([](const Interval &b) { return -b.size; });
  if (tried(fit.place(all, order)))
    return best;
  by([](const Interval &b) {
    return -double(b.size) * (b.last - b.first + 1);
  });
  Order byArea = order;
  bool done = tried(fit.place(all, order));
  if (!done) {
    by(first);
    done = tried(fit.place(all, order)) || tried(placeBySteps(all, order));
  }
  by([](const Interval &b) { return -b.size; });
  // As good as the best: 0.4 % above the bound.
  auto isNear = [&](int64_t end) {
    return tried(end) || best <= bound + bound / 256;
  };
  for (const Order &start : {order, byArea})
    done = done || improve(all, start, fit, kMostComparisons / 2, isNear);
  std::copy(chosen.begin(), chosen.end(), all.begin());
  return best;
}

} // namespace ft
