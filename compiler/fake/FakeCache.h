//===- FakeCache.h - What equal calls gave before --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model repeats itself: a transformer of 32 layers calls the same operators
// on the same layouts 32 times. Everything that a rule may read of a call is a
// unique object of the MLIRContext (the operation's name, its attributes, the
// annotated types of its operands) or an integer, so a call's signature is a
// short row of words, and looking it up compares words.
//
//   ft.transpose.int(%q, 1, 2) : tensor<2x16x4x16xf32, #ft.meta<cpu>>
//   words: name, args attribute, type of %q
//   entry: tensor<2x4x16x16xf32, #ft.meta<strides = [1024, 16, 64, 1], cpu>>,
//          a view of operand 0
//
// What a rule decides about symbols depends on what is known of them, and may
// leave a guard; so entries with symbols serve the walk that made them (one
// scope of facts), entries without serve everyone.
//
// Invariant: an entry is a function of its words. A rule that asks for anything
// else (the identity of a value, a constant's data, a new symbol) says so
// (FakeCall::bypass), and its results are not kept.
//
// Cost: of a hit, one hash of 3 to 8 words and one probe.

#ifndef FORETRACE_COMPILER_FAKE_FAKECACHE_H
#define FORETRACE_COMPILER_FAKE_FAKECACHE_H

#include "compiler/fake/FakeCall.h"

#include "mlir/IR/Types.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Allocator.h"

#include <deque>

namespace ft {

/// What a call gives for one result, in terms of the IR.
struct CallResult {
  FakeResult::Kind kind = FakeResult::Tensor;
  /// The result is the written argument itself (`t_`, `add_`, `out=`), which
  /// from then on has this type.
  bool written = false;
  /// The operand whose storage a tensor shares; -1 for fresh storage.
  int alias = -1;
  /// The annotated type; `none` for undefined results; null for numbers.
  mlir::Type type;
  /// Of a number that is known.
  std::optional<Dim> number;

  bool operator==(const CallResult &other) const {
    return kind == other.kind && written == other.written &&
           alias == other.alias && type == other.type && number == other.number;
  }
};

/// Not thread-safe. Entries live as long as the cache and the MLIRContext
/// whose types they hold.
class FakeCache {
public:
  /// A call's signature: what its rule may read.
  class Key {
  public:
    void add(const void *unique) { add(reinterpret_cast<uintptr_t>(unique)); }
    void add(uint64_t word) { words.push_back(word); }
    void clear() { words.clear(); }
    llvm::ArrayRef<uint64_t> row() const { return words; }
    uint64_t hash() const;

  private:
    llvm::SmallVector<uint64_t, 16> words;
  };

  struct Stats {
    uint64_t hits = 0;
    /// Results that were worked out and kept.
    uint64_t misses = 0;
    /// Hits that were worked out again, see `crosscheck`.
    uint64_t checked = 0;
    /// Results that were worked out and not kept, by reason.
    llvm::MapVector<llvm::StringRef, uint64_t> bypasses;
  };

  /// A number for a walk of its own.
  uint64_t newWalk() { return ++walks; }

  /// What was kept for such a call. The results stay valid.
  std::optional<llvm::ArrayRef<CallResult>> find(const Key &key,
                                                 uint64_t walk) const;
  /// Keeps the results of a call that find() did not know, for this walk or,
  /// if `walk` is 0, for all.
  llvm::ArrayRef<CallResult>
  keep(const Key &key, llvm::ArrayRef<CallResult> results, uint64_t walk);
  /// Forgets all entries, not the statistics.
  void clear();
  size_t size() const { return entries.size(); }
  /// Entry `i` in the order of keeping; writing to it is for tests of the
  /// crosscheck.
  llvm::MutableArrayRef<CallResult> entry(size_t i) {
    return entries[i].results;
  }

  Stats stats;
  /// Work out every hit again, and report an entry that differs as an internal
  /// error [FT0070] at the operation.
  bool crosscheck = false;

private:
  struct Entry {
    llvm::ArrayRef<uint64_t> words;
    llvm::MutableArrayRef<CallResult> results;
    uint64_t walk = 0;
    /// The next entry with the same hash.
    Entry *next = nullptr;
  };
  llvm::DenseMap<uint64_t, Entry *> byHash;
  std::deque<Entry> entries;
  llvm::BumpPtrAllocator memory;
  uint64_t walks = 0;
};

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_FAKECACHE_H
