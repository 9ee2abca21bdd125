//===- Interval.h - Ranges of integers -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_INTERVAL_H
#define FORETRACE_COMPILER_SHAPE_INTERVAL_H

#include <cstdint>
#include <string>

namespace ft {

/// All integers from `lo` to `hi`, both included; kMin and kMax stand for
/// infinity, and lo > hi for no integer. Arithmetic is outward: the result
/// holds every value that the operation takes on members, and an end that does
/// not fit 64 bits becomes one that is farther out.
struct Interval {
  static constexpr int64_t kMin = INT64_MIN;
  static constexpr int64_t kMax = INT64_MAX;

  int64_t lo = kMin;
  int64_t hi = kMax;

  static Interval point(int64_t v) { return {v, v}; }
  static Interval atLeast(int64_t v) { return {v, kMax}; }
  static Interval atMost(int64_t v) { return {kMin, v}; }

  bool empty() const { return lo > hi; }
  bool isPoint() const { return lo == hi; }
  bool bounded() const { return lo != kMin && hi != kMax; }
  bool contains(int64_t v) const { return lo <= v && v <= hi; }
  bool operator==(const Interval &o) const { return lo == o.lo && hi == o.hi; }
  bool operator!=(const Interval &o) const { return !(*this == o); }
  Interval intersect(Interval o) const {
    return {lo > o.lo ? lo : o.lo, hi < o.hi ? hi : o.hi};
  }
  /// "2..64", "2..", "..64", "".
  std::string str() const;
};

Interval operator+(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval operator*(Interval a, int64_t k);
/// a to the power n >= 0.
Interval power(Interval a, int64_t n);
// As Python rounds. A divisor of zero has no value and is left out.
Interval floorDiv(Interval a, Interval b);
Interval mod(Interval a, Interval b);
Interval minimum(Interval a, Interval b);
Interval maximum(Interval a, Interval b);

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_INTERVAL_H
