//===- Elimination.cpp - Refutes linear constraints fast -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/Elimination.h"

#include "compiler/shape/SymNode.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>
#include <optional>

namespace ft {

using namespace detail;

namespace {

/// Combinations that would make more rows leave the variable's rows out.
constexpr size_t kMaxRows = 200;

using Rows = llvm::SmallVectorImpl<LinearRow>;

/// What a row says by itself.
enum class Verdict { Useful, Trivial, Impossible };

Verdict tighten(LinearRow &row) {
  uint64_t divisor = 0;
  for (int64_t k : row.coefficients)
    divisor = std::gcd(divisor, k < 0 ? -uint64_t(k) : uint64_t(k));
  if (divisor == 0) {
    bool holds = row.equation ? row.constant == 0 : row.constant >= 0;
    return holds ? Verdict::Trivial : Verdict::Impossible;
  }
  if (divisor == 1 || divisor > INT64_MAX)
    return Verdict::Useful;
  auto g = static_cast<int64_t>(divisor);
  if (row.equation && floorMod(row.constant, g) != 0)
    return Verdict::Impossible;
  row.constant = *checkedFloorDiv(row.constant, g);
  for (int64_t &k : row.coefficients)
    k /= g;
  return Verdict::Useful;
}

/// a·x + b·y, or nothing if it does not fit.
std::optional<LinearRow> combine(int64_t a, const LinearRow &x, int64_t b,
                                 const LinearRow &y) {
  constexpr __int128 kLimit = __int128(1) << 62;
  LinearRow result;
  result.equation = x.equation && y.equation;
  auto sum = [&](int64_t left, int64_t right, int64_t &into) {
    __int128 value =
        static_cast<__int128>(a) * left + static_cast<__int128>(b) * right;
    into = static_cast<int64_t>(value);
    return value < kLimit && value > -kLimit;
  };
  size_t n = x.coefficients.size();
  result.coefficients.resize(n);
  for (size_t i = 0; i < n; ++i)
    if (!sum(x.coefficients[i], y.coefficients[i], result.coefficients[i]))
      return std::nullopt;
  if (!sum(x.constant, y.constant, result.constant))
    return std::nullopt;
  return result;
}

/// Sorts rows of equal coefficients together and keeps the tightest; two that
/// face each other may leave nothing, or make an equation.
bool mergeParallel(Rows &rows) {
  auto sign = [](const LinearRow &row) {
    for (int64_t k : row.coefficients)
      if (k != 0)
        return k < 0 ? -1 : 1;
    return 1;
  };
  // Compares as if the first coefficient were positive.
  auto compare = [&](const LinearRow &x, const LinearRow &y) {
    int sx = sign(x), sy = sign(y);
    for (auto [a, b] : llvm::zip(x.coefficients, y.coefficients))
      if (sx * a != sy * b)
        return sx * a < sy * b ? -1 : 1;
    return 0;
  };
  llvm::sort(rows, [&](const LinearRow &x, const LinearRow &y) {
    return compare(x, y) < 0;
  });
  size_t out = 0;
  for (size_t i = 0; i < rows.size();) {
    // form >= lower, form <= upper for the common form.
    std::optional<__int128> lower, upper;
    const LinearRow *up = nullptr, *down = nullptr;
    size_t j = i;
    for (; j < rows.size() && compare(rows[i], rows[j]) == 0; ++j) {
      const LinearRow &row = rows[j];
      bool positive = sign(row) > 0;
      if (positive || row.equation) {
        __int128 end = positive ? -__int128(row.constant) : row.constant;
        if (!lower || end > *lower) {
          lower = end;
          up = &row;
        }
      }
      if (!positive || row.equation) {
        __int128 end = positive ? -__int128(row.constant) : row.constant;
        if (!upper || end < *upper) {
          upper = end;
          down = &row;
        }
      }
    }
    if (lower && upper && *lower > *upper)
      return false;
    bool equal = lower && upper && *lower == *upper;
    LinearRow first = up ? *up : *down;
    LinearRow second = up && down ? *down : LinearRow();
    bool both = up && down && !equal;
    if (equal)
      first.equation = true;
    rows[out++] = std::move(first);
    if (both)
      rows[out++] = std::move(second);
    i = j;
  }
  rows.truncate(out);
  return true;
}

/// Drops rows that say nothing; false if one is impossible.
bool tightenAll(Rows &rows) {
  bool possible = true;
  llvm::erase_if(rows, [&](LinearRow &row) {
    Verdict verdict = tighten(row);
    possible &= verdict != Verdict::Impossible;
    return verdict == Verdict::Trivial;
  });
  return possible;
}

/// Removes a variable by an equation; false if there is no equation.
bool substituteOne(Rows &rows) {
  const LinearRow *best = nullptr;
  size_t variable = 0;
  for (const LinearRow &row : rows) {
    if (!row.equation)
      continue;
    for (auto [i, k] : llvm::enumerate(row.coefficients))
      if (k != 0 && k != INT64_MIN &&
          (!best || std::abs(k) < std::abs(best->coefficients[variable]))) {
        best = &row;
        variable = i;
      }
  }
  if (!best)
    return false;
  LinearRow equation = *best;
  rows.erase(rows.begin() + (best - rows.begin()));
  int64_t pivot = equation.coefficients[variable];
  int64_t scale = std::abs(pivot);
  llvm::erase_if(rows, [&](LinearRow &row) {
    int64_t k = row.coefficients[variable];
    if (k == 0)
      return false;
    if (k == INT64_MIN)
      return true;
    // |pivot|·row - sign·k·equation; a positive factor keeps the direction.
    bool isEquation = row.equation;
    std::optional<LinearRow> next =
        combine(scale, row, pivot < 0 ? k : -k, equation);
    if (!next)
      return true;
    row = std::move(*next);
    row.equation = isEquation;
    return false;
  });
  return true;
}

/// Removes a variable by combining its bounds; false if none is left.
bool eliminateOne(Rows &rows) {
  if (rows.empty())
    return false;
  size_t n = rows[0].coefficients.size();
  std::optional<size_t> best;
  size_t bestCost = 0, bestLower = 0, bestUpper = 0;
  for (size_t i = 0; i < n; ++i) {
    size_t lower = 0, upper = 0;
    for (const LinearRow &row : rows) {
      lower += row.coefficients[i] > 0;
      upper += row.coefficients[i] < 0;
    }
    if (lower + upper == 0)
      continue;
    size_t cost = lower * upper;
    if (!best || cost < bestCost) {
      best = i;
      bestCost = cost;
      bestLower = lower;
      bestUpper = upper;
    }
  }
  if (!best)
    return false;
  llvm::SmallVector<LinearRow> lower, upper;
  llvm::erase_if(rows, [&](LinearRow &row) {
    int64_t k = row.coefficients[*best];
    if (k == 0)
      return false;
    if (k != INT64_MIN)
      (k > 0 ? lower : upper).push_back(std::move(row));
    return true;
  });
  // Too many: nothing more is known of what they bounded.
  if (rows.size() + bestLower * bestUpper > kMaxRows)
    return true;
  for (const LinearRow &low : lower)
    for (const LinearRow &high : upper) {
      int64_t a = low.coefficients[*best], b = -high.coefficients[*best];
      int64_t g = std::gcd(a, b);
      if (std::optional<LinearRow> row = combine(b / g, low, a / g, high))
        rows.push_back(std::move(*row));
    }
  return true;
}

} // namespace

bool refuteByElimination(llvm::SmallVectorImpl<LinearRow> &rows,
                         uint64_t &budget) {
  for (;;) {
    uint64_t work =
        rows.empty() ? 0 : rows.size() * rows[0].coefficients.size();
    if (work > budget)
      return false;
    budget -= work;
    if (!tightenAll(rows) || !mergeParallel(rows))
      return true;
    if (!substituteOne(rows) && !eliminateOne(rows))
      return false;
  }
}

} // namespace ft
