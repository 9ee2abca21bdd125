//===- Interval.cpp - Ranges of integers -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/Interval.h"

#include <algorithm>

namespace ft {

namespace {

/// An end while it is computed with: 128 bits hold every product of two ends,
/// and values beyond ±kInfinity stand for infinity.
using Wide = __int128;
constexpr Wide kInfinity = Wide(1) << 125;

Wide widenLo(int64_t end) {
  return end == Interval::kMin ? -kInfinity : Wide(end);
}
Wide widenHi(int64_t end) {
  return end == Interval::kMax ? kInfinity : Wide(end);
}

/// Rounds outward: a lower end beyond 64 bits is the largest that is finite.
Interval narrow(Wide lo, Wide hi) {
  Interval result;
  if (lo > Interval::kMin)
    result.lo = lo >= Interval::kMax ? Interval::kMax - 1 : int64_t(lo);
  if (hi < Interval::kMax)
    result.hi = hi <= Interval::kMin ? Interval::kMin + 1 : int64_t(hi);
  return result;
}

Wide times(Wide a, Wide b) {
  if (a == 0 || b == 0)
    return 0;
  bool infinite =
      a >= kInfinity || a <= -kInfinity || b >= kInfinity || b <= -kInfinity;
  if (infinite)
    return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return a * b;
}

Wide divide(Wide a, Wide b) {
  if (b >= kInfinity || b <= -kInfinity) {
    // A finite number by one that grows: 0, or -1 from below.
    bool infinite = a >= kInfinity || a <= -kInfinity;
    if (infinite)
      return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
    return a != 0 && (a < 0) != (b < 0) ? -1 : 0;
  }
  if (a >= kInfinity || a <= -kInfinity)
    return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  Wide q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

constexpr Interval kEmpty{1, 0};

/// floorDiv for a divisor of one sign, lo >= 1: monotone in each argument, so
/// that the ends are those of the corners.
Interval divideByPositive(Interval a, Interval b) {
  Wide corners[] = {divide(widenLo(a.lo), widenLo(b.lo)),
                    divide(widenLo(a.lo), widenHi(b.hi)),
                    divide(widenHi(a.hi), widenLo(b.lo)),
                    divide(widenHi(a.hi), widenHi(b.hi))};
  return narrow(*std::min_element(corners, corners + 4),
                *std::max_element(corners, corners + 4));
}

Interval join(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

} // namespace

Interval operator+(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return kEmpty;
  return narrow(widenLo(a.lo) + widenLo(b.lo), widenHi(a.hi) + widenHi(b.hi));
}

Interval operator*(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return kEmpty;
  Wide corners[] = {
      times(widenLo(a.lo), widenLo(b.lo)), times(widenLo(a.lo), widenHi(b.hi)),
      times(widenHi(a.hi), widenLo(b.lo)), times(widenHi(a.hi), widenHi(b.hi))};
  return narrow(*std::min_element(corners, corners + 4),
                *std::max_element(corners, corners + 4));
}

Interval operator*(Interval a, int64_t k) {
  if (a.empty())
    return kEmpty;
  Wide lo = times(widenLo(a.lo), k), hi = times(widenHi(a.hi), k);
  return k < 0 ? narrow(hi, lo) : narrow(lo, hi);
}

Interval power(Interval a, int64_t n) {
  Interval result = Interval::point(1);
  // Beyond the 64th power only 0, 1 and -1 are finite.
  for (int64_t i = 0; i < std::min<int64_t>(n, 64 + n % 2); ++i)
    result = result * a;
  if (n % 2 == 0 && n > 0)
    result = result.intersect(Interval::atLeast(0));
  return result;
}

Interval floorDiv(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return kEmpty;
  Interval positive = b.intersect(Interval::atLeast(1));
  Interval negative = b.intersect(Interval::atMost(-1)) * -1;
  Interval result = kEmpty;
  if (!positive.empty())
    result = join(result, divideByPositive(a, positive));
  if (!negative.empty())
    result = join(result, divideByPositive(a * -1, negative));
  return result;
}

Interval mod(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return kEmpty;
  if (b.isPoint() && b.lo > 0 && a.bounded()) {
    // Within one period the remainder is a shift.
    Interval quotient = floorDiv(a, b);
    if (quotient.isPoint())
      return a + Interval::point(quotient.lo) * -b.lo;
  }
  Interval positive = b.intersect(Interval::atLeast(1));
  Interval negative = b.intersect(Interval::atMost(-1));
  if (negative.empty() && a.lo >= 0 && a.hi < positive.lo)
    return a;
  Interval result = kEmpty;
  if (!positive.empty()) {
    Interval rest{0, positive.hi == Interval::kMax ? Interval::kMax
                                                   : positive.hi - 1};
    if (a.lo >= 0)
      rest.hi = std::min(rest.hi, a.hi);
    result = join(result, rest);
  }
  if (!negative.empty()) {
    Interval rest{
        negative.lo == Interval::kMin ? Interval::kMin : negative.lo + 1, 0};
    if (a.hi <= 0)
      rest.lo = std::max(rest.lo, a.lo);
    result = join(result, rest);
  }
  return result;
}

Interval minimum(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return kEmpty;
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}

Interval maximum(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return kEmpty;
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

std::string Interval::str() const {
  return (lo == kMin ? std::string() : std::to_string(lo)) + ".." +
         (hi == kMax ? std::string() : std::to_string(hi));
}

} // namespace ft
