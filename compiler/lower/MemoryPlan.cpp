//===- MemoryPlan.cpp - Offsets of buffers in one arena --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/MemoryPlan.h"

#include "compiler/lower/PackIntervals.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

namespace ft {

/// Sizes k*E are packed in units of E if rounding k up to the alignment adds
/// an eighth at most.
static constexpr int64_t kLeastFactor = 8 * MemoryPlan::kAlignment;

unsigned MemoryPlan::add(int64_t bytes, unsigned first, unsigned last) {
  buffers.push_back({aligned(bytes) + redZone, first, last});
  buffers.back().asked = bytes;
  return static_cast<unsigned>(buffers.size()) - 1;
}

unsigned MemoryPlan::add(Dim bytes, int64_t estimate, unsigned first,
                         unsigned last) {
  if (bytes.isStatic())
    return add(bytes.value(), first, last);
  Buffer b{aligned(estimate) + redZone, first, last};
  b.asked = bytes;
  b.symbolic = ceilDiv(bytes, kAlignment) * Dim(kAlignment) + Dim(redZone);
  SymTerm storage;
  SymExpr::Affine sum = bytes.symbolic().affine(storage);
  if (sum.constant == 0 && sum.terms.size() == 1 &&
      sum.terms[0].k >= kLeastFactor) {
    b.factor = aligned(sum.terms[0].k) + redZone;
    b.unit = sum.terms[0].expr;
    b.unitAtHint = estimate / sum.terms[0].k;
  }
  buffers.push_back(b);
  return static_cast<unsigned>(buffers.size()) - 1;
}

void MemoryPlan::extend(unsigned buffer, unsigned step) {
  Buffer &b = buffers[buffer];
  b.first = std::min(b.first, step);
  b.last = std::max(b.last, step);
}

bool MemoryPlan::tie(unsigned to, unsigned from) {
  Buffer &t = buffers[to];
  const Buffer &f = buffers[from];
  if (to == from || t.tiedTo >= 0 || t.first != f.last || t.asked != f.asked ||
      llvm::any_of(ties, [&](auto known) { return known.second == from; }))
    return false;
  t.tiedTo = from;
  ties.push_back({to, from});
  return true;
}

std::vector<MemoryPlan::Group> MemoryPlan::groups(bool tied) const {
  std::vector<Group> result;
  std::vector<unsigned> groupOf(buffers.size());
  // What a buffer is tied to was born before it.
  std::vector<unsigned> order(buffers.size());
  for (unsigned id = 0; id < buffers.size(); ++id)
    order[id] = id;
  if (tied && !ties.empty())
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(buffers[a].first, a) < std::pair(buffers[b].first, b);
    });
  std::vector<bool> seen(buffers.size());
  for (unsigned id : order) {
    const Buffer &b = buffers[id];
    seen[id] = true;
    if (tied && b.tiedTo >= 0 && seen[static_cast<size_t>(b.tiedTo)]) {
      Group &g = result[groupOf[id] = groupOf[static_cast<size_t>(b.tiedTo)]];
      g.members.push_back(id);
      g.last = std::max(g.last, b.last);
      continue;
    }
    groupOf[id] = static_cast<unsigned>(result.size());
    result.push_back({{id}, b.first, b.last});
  }
  return result;
}

static bool isTold(Dim d, const llvm::StringSet<> *told) {
  if (!told || d.isStatic())
    return true;
  llvm::StringSet<> names;
  d.symbolic().collectSymbols(names);
  return llvm::all_of(
      names, [&](const auto &name) { return told->contains(name.getKey()); });
}

void MemoryPlan::addSlot(Dim bytes, int64_t estimate) {
  slotSizes.push_back(bytes);
  estimatedSlots += estimate;
}

void MemoryPlan::solve(const llvm::StringSet<> *told) {
  bool hasUnits =
      llvm::any_of(buffers, [](const Buffer &b) { return b.factor; });
  std::vector<Choice> choices{{false, hasUnits}};
  if (hasUnits)
    choices.push_back({false, false});
  if (!ties.empty())
    for (size_t i = 0, n = choices.size(); i < n; ++i)
      choices.push_back({true, choices[i].units});
  Choice best = choices.front(), last = best;
  int64_t least = place(best, told);
  for (Choice choice : llvm::drop_begin(choices)) {
    last = choice;
    if (int64_t bytes = place(choice, told); bytes < least) {
      least = bytes;
      best = choice;
    }
  }
  if (best.tied != last.tied || best.units != last.units)
    place(best, told);
}

/// Places all; the bytes of the arena at the hints.
int64_t MemoryPlan::place(Choice choice, const llvm::StringSet<> *told) {
  bool tied = choice.tied;
  std::vector<Group> all = groups(tied), numbers, units, rest;
  slotSizes.clear();
  total = estimatedSlots = 0;
  for (Group &g : all) {
    const Buffer &b = buffers[g.members.front()];
    for (unsigned id : g.members) {
      buffers[id].inPlace = id != g.members.front();
      buffers[id].slot = -1;
    }
    (b.symbolic.isStatic()      ? numbers
     : b.factor && choice.units ? units
                                : rest)
        .push_back(std::move(g));
  }
  std::vector<Interval> intervals;
  for (const Group &g : numbers)
    intervals.push_back({buffers[g.members.front()].bytes, g.first, g.last});
  total = packIntervals(intervals, useful);
  for (auto [g, interval] : llvm::zip(numbers, intervals))
    for (unsigned id : g.members)
      buffers[id].offset = interval.offset;
  // A stable order: those whose sizes are told, then the others.
  auto isFirst = [&](const Group &g) {
    return isTold(buffers[g.members.front()].symbolic, told);
  };
  numTold = 0;
  for (bool first : {true, false}) {
    std::vector<Group> someUnits, someRest;
    llvm::copy_if(units, std::back_inserter(someUnits),
                  [&](const Group &g) { return isFirst(g) == first; });
    llvm::copy_if(rest, std::back_inserter(someRest),
                  [&](const Group &g) { return isFirst(g) == first; });
    solveUnits(someUnits);
    solveSlots(someRest);
    if (first)
      numTold = slotSizes.size();
  }
  return total + estimatedSlots;
}

/// Sizes k*E: one slot for each E.
void MemoryPlan::solveUnits(llvm::ArrayRef<Group> groups) {
  std::vector<SymExpr> units;
  for (const Group &g : groups)
    if (SymExpr unit = buffers[g.members.front()].unit;
        !llvm::is_contained(units, unit))
      units.push_back(unit);
  for (SymExpr unit : units) {
    std::vector<const Group *> members;
    std::vector<Interval> intervals;
    int64_t atHint = 0;
    for (const Group &g : groups) {
      const Buffer &b = buffers[g.members.front()];
      if (b.unit != unit)
        continue;
      members.push_back(&g);
      intervals.push_back({b.factor, g.first, g.last});
      atHint = b.unitAtHint;
    }
    int64_t end = packIntervals(intervals);
    for (auto [g, interval] : llvm::zip(members, intervals))
      for (unsigned id : g->members) {
        buffers[id].slot = static_cast<int>(slotSizes.size());
        buffers[id].offset = Dim(interval.offset) * Dim(unit);
      }
    addSlot(Dim(end) * Dim(unit), end * atHint);
  }
}

/// The larger of two sizes; symbols are never negative.
static Dim larger(Dim a, Dim b) {
  Dim difference = a - b;
  if (difference.isStatic())
    return difference.value() >= 0 ? a : b;
  SymTerm storage;
  SymExpr::Affine sum = difference.symbolic().affine(storage);
  auto all = [&](int sign) {
    return sign * sum.constant >= 0 &&
           llvm::all_of(sum.terms, [&](const SymTerm &t) {
             bool product = t.expr.kind() == SymKind::Symbol ||
                            t.expr.kind() == SymKind::Mul;
             return product && sign * t.k > 0;
           });
  };
  return all(1) ? a : all(-1) ? b : maxDim(a, b);
}

/// Whole slots, in the order of sizes at the hints, each the one that wastes
/// least.
void MemoryPlan::solveSlots(std::vector<Group> &groups) {
  // The largest first; of equal ones, in the order in which they came.
  llvm::sort(groups, [&](const Group &a, const Group &b) {
    unsigned x = a.members.front(), y = b.members.front();
    return std::pair(-buffers[x].bytes, x) < std::pair(-buffers[y].bytes, y);
  });
  struct Slot {
    int64_t estimate;
    Dim bytes;
    /// When it is taken: first step to last.
    std::map<unsigned, unsigned> taken;

    bool isFree(const Group &g) const {
      auto after = taken.upper_bound(g.last);
      return after == taken.begin() || std::prev(after)->second < g.first;
    }
  };
  std::vector<Slot> slots;
  size_t before = slotSizes.size();
  for (const Group &g : groups) {
    const Buffer &b = buffers[g.members.front()];
    // Larger buffers came first: a free slot wastes what it has more.
    int best = -1;
    for (auto [i, slot] : llvm::enumerate(slots)) {
      bool fits = slot.bytes == b.symbolic;
      if (slot.isFree(g) &&
          (best < 0 || fits || slot.estimate < slots[best].estimate)) {
        best = static_cast<int>(i);
        if (fits)
          break;
      }
    }
    if (best < 0) {
      best = static_cast<int>(slots.size());
      slots.push_back({b.bytes, b.symbolic, {}});
    }
    slots[best].bytes = larger(slots[best].bytes, b.symbolic);
    slots[best].taken[g.first] = g.last;
    for (unsigned id : g.members) {
      buffers[id].slot = best + static_cast<int>(before);
      buffers[id].offset = 0;
    }
  }
  for (const Slot &slot : slots)
    addSlot(slot.bytes, slot.estimate);
}

Dim MemoryPlan::arenaBytes() const {
  Dim bytes = total;
  for (Dim slot : slotSizes)
    bytes = bytes + slot;
  return bytes;
}

int64_t MemoryPlan::lowerBound() const {
  std::vector<Interval> intervals;
  for (const Buffer &b : buffers)
    intervals.push_back({b.bytes, b.first, b.last});
  return mostLive(intervals);
}

} // namespace ft
