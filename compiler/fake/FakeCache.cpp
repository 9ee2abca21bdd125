//===- FakeCache.cpp - What equal calls gave before ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakeCache.h"

#include <type_traits>

namespace ft {

// Entries are never destroyed one by one.
static_assert(std::is_trivially_destructible_v<CallResult>);

/// Multiply and shift for each word: pointers differ in their middle bits.
uint64_t FakeCache::Key::hash() const {
  uint64_t h = words.size();
  for (uint64_t word : words) {
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
  }
  // The map keeps the two largest numbers for itself.
  return h >> 1;
}

std::optional<llvm::ArrayRef<CallResult>> FakeCache::find(const Key &key,
                                                          uint64_t walk) const {
  for (const Entry *e = byHash.lookup(key.hash()); e; e = e->next)
    if (e->words == key.row() && (e->walk == 0 || e->walk == walk))
      return e->results;
  return std::nullopt;
}

llvm::ArrayRef<CallResult> FakeCache::keep(const Key &key,
                                           llvm::ArrayRef<CallResult> results,
                                           uint64_t walk) {
  Entry *&first = byHash[key.hash()];
  Entry *entry = first;
  // The entry of an earlier walk is of no use any more.
  while (entry && entry->words != key.row())
    entry = entry->next;
  if (!entry) {
    entry = &entries.emplace_back();
    entry->words = key.row().copy(memory);
    entry->next = first;
    first = entry;
  }
  entry->results = results.copy(memory);
  entry->walk = walk;
  return entry->results;
}

void FakeCache::clear() {
  byHash.clear();
  entries.clear();
  memory.Reset();
}

} // namespace ft
