//===- MemoryPlan.h - Offsets of buffers in one arena ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_MEMORYPLAN_H
#define FORETRACE_COMPILER_LOWER_MEMORYPLAN_H

#include "compiler/shape/Dim.h"

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
/// Where sizes are of the run, buffers share whole slots: a slot is as large as
/// the largest of its buffers, whichever that is in the run, and slots lie one
/// after the other behind the buffers of known size. Buffers take slots in the
/// order of their sizes at the hints, each the one that wastes least.
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

  /// Bytes that stay free behind every buffer, a multiple of kAlignment, so
  /// that a sanitizer sees what runs over its end. Before the first `add`.
  void setRedZone(int64_t bytes) { redZone = bytes; }

  /// A buffer of `bytes` (≥ 0) that is written at step `first` and last used at
  /// step `last` ≥ `first`. Returns its number.
  unsigned add(int64_t bytes, unsigned first, unsigned last);
  /// The same of a size of the run, which is `estimate` at the hints.
  unsigned add(Dim bytes, int64_t estimate, unsigned first, unsigned last);
  /// Makes the buffer live at `step` too.
  void extend(unsigned buffer, unsigned step);

  void solve();

  /// What was asked for.
  Dim bytes(unsigned buffer) const { return buffers[buffer].asked; }
  int64_t offset(unsigned buffer) const { return buffers[buffer].offset; }
  /// The slot of a buffer, whose size is of the run; -1: it has an offset.
  int slot(unsigned buffer) const { return buffers[buffer].slot; }
  /// The sizes of slots; the first starts at totalBytes().
  llvm::ArrayRef<Dim> slotBytes() const { return slotSizes; }
  /// The size of the arena, or of the part before the slots.
  int64_t totalBytes() const { return total; }
  /// At the hints, slots included.
  int64_t estimatedBytes() const { return total + estimatedSlots; }
  /// The most bytes that are live at one step.
  int64_t lowerBound() const;
  size_t size() const { return buffers.size(); }

private:
  struct Buffer {
    int64_t bytes;
    unsigned first, last;
    int64_t offset = 0;
    Dim symbolic = 0; ///< bytes of the run, where `bytes` is an estimate
    int slot = -1;
    Dim asked = 0;
  };
  void solveSlots();

  std::vector<Buffer> buffers;
  std::vector<Dim> slotSizes;
  int64_t total = 0, estimatedSlots = 0, redZone = 0;
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_MEMORYPLAN_H
