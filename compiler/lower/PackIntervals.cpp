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

using Order = std::vector<unsigned>;

/// Each at the lowest offset at which it fits, in the given order.
static int64_t placeLowest(llvm::MutableArrayRef<Interval> all,
                           const Order &order) {
  int64_t end = 0;
  // Those placed so far, by offset.
  std::vector<unsigned> placed;
  placed.reserve(order.size());
  for (unsigned id : order) {
    Interval &b = all[id];
    int64_t offset = 0;
    for (unsigned other : placed) {
      const Interval &o = all[other];
      if (o.last < b.first || b.last < o.first)
        continue;
      if (offset + b.size <= o.offset)
        break;
      offset = std::max(offset, o.offset + o.size);
    }
    b.offset = offset;
    end = std::max(end, offset + b.size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), id,
                                   [&](unsigned x, unsigned y) {
                                     return all[x].offset < all[y].offset;
                                   }),
                  id);
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

int64_t packIntervals(llvm::MutableArrayRef<Interval> all) {
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
  std::vector<Interval> chosen;
  auto tried = [&](int64_t end) {
    if (best < 0 || end < best) {
      best = end;
      chosen.assign(all.begin(), all.end());
    }
    return best == bound;
  };
  by([](const Interval &b) { return -b.size; });
  if (tried(placeLowest(all, order)))
    return best;
  by([](const Interval &b) {
    return -double(b.size) * (b.last - b.first + 1);
  });
  bool done = tried(placeLowest(all, order));
  if (!done) {
    by(first);
    done = tried(placeLowest(all, order)) || tried(placeBySteps(all, order));
  }
  std::copy(chosen.begin(), chosen.end(), all.begin());
  return best;
}

} // namespace ft
