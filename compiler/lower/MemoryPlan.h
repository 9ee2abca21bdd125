//===- MemoryPlan.h - Offsets of buffers in one arena ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_MEMORYPLAN_H
#define FORETRACE_COMPILER_LOWER_MEMORYPLAN_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace ft {

/// Gives every buffer of a schedule its place in one arena.
///
/// A buffer lives over a closed range of steps; two buffers may share bytes if
/// their ranges do not meet. Example, steps left to right:
///
///   A 64 B  |0----1|              offset 0
///   B 128 B     |1-----3|         offset 64 (meets A at step 1)
///   C 64 B           |2---4|      offset 0  (A is dead)
///
/// Algorithm: buffers by size, largest first (ties: the earlier one, so that
/// the plan is deterministic); each goes to the lowest offset at which it fits
/// between those already placed that live at the same time. Largest first is
/// the usual heuristic for this NP-hard problem: on layered networks it ends
/// within a few percent of the lower bound (the most bytes live at a step),
/// which `lowerBound` reports.
///
/// Invariant: no two buffers that live at the same step overlap; every offset
/// is a multiple of kAlignment. Cost: O(n²) in the number of buffers.
class MemoryPlan {
public:
  static constexpr int64_t kAlignment = 64;
  /// `bytes` rounded up to a multiple of kAlignment.
  static int64_t aligned(int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// A buffer of `bytes` (≥ 0) that is written at step `first` and last used at
  /// step `last` ≥ `first`. Returns its number.
  unsigned add(int64_t bytes, unsigned first, unsigned last);
  /// Makes the buffer live at `step` too.
  void extend(unsigned buffer, unsigned step);

  void solve();

  int64_t offset(unsigned buffer) const { return buffers[buffer].offset; }
  /// The size of the arena.
  int64_t totalBytes() const { return total; }
  /// The most bytes that are live at one step.
  int64_t lowerBound() const;
  size_t size() const { return buffers.size(); }

private:
  struct Buffer {
    int64_t bytes;
    unsigned first, last;
    int64_t offset = 0;
  };
  std::vector<Buffer> buffers;
  int64_t total = 0;
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_MEMORYPLAN_H
