//===- Rng.h - Random choices that a seed decides --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_RANDOM_RNG_H
#define FORETRACE_TESTS_RANDOM_RNG_H

#include <cstddef>
#include <cstdint>

namespace ft::random {

/// splitmix64: the same choices on every machine, which the distributions of
/// the standard library do not promise.
class Rng {
public:
  explicit Rng(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// A number in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low +
           static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  /// A number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <typename List>
  const auto &of(const List &list) {
    return list[between(0, static_cast<int64_t>(list.size()) - 1)];
  }
  template <typename T, size_t n>
  const T &of(const T (&list)[n]) {
    return list[between(0, n - 1)];
  }

private:
  uint64_t state;
};

} // namespace ft::random

#endif // FORETRACE_TESTS_RANDOM_RNG_H
