//===- MemoryPlan.cpp - Offsets of buffers in one arena --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/MemoryPlan.h"

#include <algorithm>
#include <numeric>

namespace ft {

unsigned MemoryPlan::add(int64_t bytes, unsigned first, unsigned last) {
  buffers.push_back({aligned(bytes) + redZone, first, last});
  buffers.back().asked = bytes;
  return static_cast<unsigned>(buffers.size()) - 1;
}

unsigned MemoryPlan::add(Dim bytes, int64_t estimate, unsigned first,
                         unsigned last) {
  if (bytes.isStatic())
    return add(bytes.value(), first, last);
  buffers.push_back({aligned(estimate) + redZone, first, last});
  buffers.back().asked = bytes;
  buffers.back().symbolic =
      ceilDiv(bytes, kAlignment) * Dim(kAlignment) + Dim(redZone);
  return static_cast<unsigned>(buffers.size()) - 1;
}

void MemoryPlan::extend(unsigned buffer, unsigned step) {
  Buffer &b = buffers[buffer];
  b.first = std::min(b.first, step);
  b.last = std::max(b.last, step);
}

void MemoryPlan::solve() {
  solveSlots();
  std::vector<unsigned> order;
  for (unsigned id = 0; id < buffers.size(); ++id)
    if (buffers[id].symbolic.isStatic())
      order.push_back(id);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return buffers[a].bytes != buffers[b].bytes
               ? buffers[a].bytes > buffers[b].bytes
               : a < b;
  });
  total = 0;
  // Those placed so far, by offset.
  std::vector<unsigned> placed;
  for (unsigned id : order) {
    Buffer &b = buffers[id];
    int64_t offset = 0;
    for (unsigned other : placed) {
      const Buffer &o = buffers[other];
      if (o.last < b.first || b.last < o.first)
        continue;
      if (offset + b.bytes <= o.offset)
        break;
      offset = std::max(offset, o.offset + o.bytes);
    }
    b.offset = offset;
    total = std::max(total, offset + b.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), id,
                                   [&](unsigned x, unsigned y) {
                                     return buffers[x].offset <
                                            buffers[y].offset;
                                   }),
                  id);
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

void MemoryPlan::solveSlots() {
  std::vector<unsigned> order;
  for (unsigned id = 0; id < buffers.size(); ++id)
    if (!buffers[id].symbolic.isStatic())
      order.push_back(id);
  // The largest first; of equal ones, in the order in which they came.
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-buffers[a].bytes, a) < std::pair(-buffers[b].bytes, b);
  });
  struct Slot {
    int64_t estimate;
    Dim bytes;
    std::vector<unsigned> members;
  };
  std::vector<Slot> slots;
  for (unsigned id : order) {
    Buffer &b = buffers[id];
    // Larger buffers came first: a free slot wastes what it has more.
    int best = -1;
    for (auto [i, slot] : llvm::enumerate(slots)) {
      bool free = llvm::none_of(slot.members, [&](unsigned other) {
        const Buffer &o = buffers[other];
        return o.first <= b.last && b.first <= o.last;
      });
      bool fits = slot.bytes == b.symbolic;
      if (free && (best < 0 || fits || slot.estimate < slots[best].estimate)) {
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
    slots[best].members.push_back(id);
    b.slot = best;
  }
  slotSizes.clear();
  estimatedSlots = 0;
  for (const Slot &slot : slots) {
    slotSizes.push_back(slot.bytes);
    estimatedSlots += slot.estimate;
  }
}

int64_t MemoryPlan::lowerBound() const {
  unsigned steps = 0;
  for (const Buffer &b : buffers)
    steps = std::max(steps, b.last + 1);
  std::vector<int64_t> change(steps + 1, 0);
  for (const Buffer &b : buffers) {
    change[b.first] += b.bytes;
    change[b.last + 1] -= b.bytes;
  }
  int64_t live = 0, most = 0;
  for (int64_t c : change)
    most = std::max(most, live += c);
  return most;
}

} // namespace ft
