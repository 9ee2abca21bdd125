//===- MemoryPlan.cpp - Offsets of buffers in one arena --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/MemoryPlan.h"

#include <algorithm>
#include <numeric>

namespace ft {

unsigned MemoryPlan::add(int64_t bytes, unsigned first, unsigned last) {
  buffers.push_back({aligned(bytes), first, last});
  return static_cast<unsigned>(buffers.size()) - 1;
}

void MemoryPlan::extend(unsigned buffer, unsigned step) {
  Buffer &b = buffers[buffer];
  b.first = std::min(b.first, step);
  b.last = std::max(b.last, step);
}

void MemoryPlan::solve() {
  std::vector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
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
