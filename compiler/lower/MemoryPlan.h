//===- MemoryPlan.h - Offsets of buffers in one arena ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_MEMORYPLAN_H
#define FORETRACE_COMPILER_LOWER_MEMORYPLAN_H

#include "compiler/shape/Dim.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ft {

/// Gives every buffer of a schedule its place in one arena.
///
/// A buffer lives over a closed range of steps; two buffers may share bytes if
/// their ranges do not meet (PackIntervals.h finds the offsets).
///
/// Sizes of the run: buffers of k1*E, k2*E, … bytes, with one and the same
/// expression E, are packed as buffers of k1, k2, … bytes are, and all is then
/// E times as large. What is left (sums, sizes of a few bytes times E, where
/// the alignment would cost too much) shares whole slots: a slot is as large as
/// the largest of its buffers, whichever that is in the run. All share slots
/// where that takes less at the hints: buffers of different E share nothing
/// otherwise. Example, with a batch s0:
///
///   A 1024*s0, live 0 to 1    B 512*s0, live 1 to 2    C 1024*s0, live 2 to 3
///   one slot of 1536*s0 bytes: A and C at 0, B at 1024*s0
///
/// Slots lie one after the other behind the buffers of known size.
///
/// A buffer may be tied to one that dies where it is born, of the same size:
/// the step then works in place. Ties are used only if the arena gets smaller
/// by them, all or none: tied buffers live longer together, which may leave
/// more gaps than it saves.
///
/// Invariant: no two buffers that live at the same step overlap, but for tied
/// ones; every offset is a multiple of kAlignment.
class MemoryPlan {
public:
  static constexpr int64_t kAlignment = 64;
  /// `bytes` rounded up to a multiple of kAlignment.
  static int64_t aligned(int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// Bytes that stay free behind every buffer, a multiple of kAlignment, so
  /// that a sanitizer sees what runs over its end.
  void setRedZone(int64_t bytes) { redZone = bytes; }

  /// An arena of more is of no use, and not made as small as it could be.
  void setUseful(int64_t bytes) { useful = bytes; }

  /// A buffer of `bytes` (≥ 0) that is written at step `first` and last used at
  /// step `last` ≥ `first`. Returns its number.
  unsigned add(int64_t bytes, unsigned first, unsigned last);
  /// The same of a size of the run, which is `estimate` at the hints.
  unsigned add(Dim bytes, int64_t estimate, unsigned first, unsigned last);
  /// Makes the buffer live at `step` too.
  void extend(unsigned buffer, unsigned step);
  unsigned first(unsigned buffer) const { return buffers[buffer].first; }
  unsigned last(unsigned buffer) const { return buffers[buffer].last; }
  /// Buffer `from` ends where `to` starts, and is as large: `to` may be in the
  /// same memory. False, and nothing happens, if this does not hold. Buffers
  /// do not grow afterwards.
  bool tie(unsigned to, unsigned from);

  /// `told`: slots whose sizes have these symbols only come first (toldSlots);
  /// null: all are told.
  void solve(const llvm::StringSet<> *told = nullptr);

  /// What was asked for.
  Dim bytes(unsigned buffer) const { return buffers[buffer].asked; }
  /// From the start of the arena, or of the buffer's slot.
  Dim offset(unsigned buffer) const { return buffers[buffer].offset; }
  /// The slot of a buffer, whose size is of the run; -1: it is in none.
  int slot(unsigned buffer) const { return buffers[buffer].slot; }
  /// Whether it is in the memory of the buffer that it was tied to.
  bool isInPlace(unsigned buffer) const { return buffers[buffer].inPlace; }
  /// The sizes of slots; the first starts at totalBytes().
  llvm::ArrayRef<Dim> slotBytes() const { return slotSizes; }
  size_t toldSlots() const { return numTold; }
  /// The size of the arena, or of the part before the slots.
  int64_t totalBytes() const { return total; }
  /// The whole, slots included.
  Dim arenaBytes() const;
  /// At the hints, slots included.
  int64_t estimatedBytes() const { return total + estimatedSlots; }
  /// The most bytes that are live at one step, ties left out of account.
  int64_t lowerBound() const;
  size_t size() const { return buffers.size(); }

private:
  struct Buffer {
    int64_t bytes;
    unsigned first, last;
    Dim offset = 0;
    Dim symbolic = 0; ///< bytes of the run, where `bytes` is an estimate
    int slot = -1;
    Dim asked = 0;
    int64_t tiedTo = -1;
    bool inPlace = false;
    /// Of a size k*E: k with its padding, E, and E at the hints.
    int64_t factor = 0, unitAtHint = 0;
    SymExpr unit = {};
  };
  /// A buffer, or a chain of tied ones.
  struct Group {
    std::vector<unsigned> members;
    unsigned first, last;
  };
  std::vector<Group> groups(bool tied) const;
  struct Choice {
    bool tied, units;
  };
  int64_t place(Choice choice, const llvm::StringSet<> *told);
  void solveUnits(llvm::ArrayRef<Group> groups);
  void solveSlots(std::vector<Group> &groups);
  void addSlot(Dim bytes, int64_t estimate);

  std::vector<Buffer> buffers;
  std::vector<std::pair<unsigned, unsigned>> ties;
  std::vector<Dim> slotSizes;
  size_t numTold = 0;
  int64_t total = 0, estimatedSlots = 0, redZone = 0;
  int64_t useful = std::numeric_limits<int64_t>::max();
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_MEMORYPLAN_H
