//===- Elimination.h - Refutes linear constraints fast ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_ELIMINATION_H
#define FORETRACE_COMPILER_SHAPE_ELIMINATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace ft {

/// Σ coefficients[i]·x_i + constant, which is zero if `equation`, else not
/// negative. All rows of a system have as many coefficients.
struct LinearRow {
  llvm::SmallVector<int64_t, 12> coefficients;
  int64_t constant = 0;
  bool equation = false;
};

/// True if no integers satisfy all rows. False proves nothing.
///
/// Equations are solved for a variable of coefficient 1 where there is one,
/// then variables are eliminated one by one (Fourier and Motzkin): each lower
/// bound of x is combined with each upper bound. Rows are divided by the common
/// divisor of their coefficients, and the constant rounded, which is where
/// integers come in:
///
///   m = 8p, 1 <= m - 4q <= 3   →   1 <= 8p - 4q <= 3   →   1 <= 2p - q <= 0
///
/// Invariant: rows that are left out (overflow, too many) only enlarge the set.
///
/// `budget` is the number of coefficients that may still be computed, reduced
/// by those that were; the answer is false when it is spent.
///
/// Cost: at most one combination of kMaxRows rows for each variable: some
/// microseconds for ten variables, some milliseconds at worst.
bool refuteByElimination(llvm::SmallVectorImpl<LinearRow> &rows,
                         uint64_t &budget);

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_ELIMINATION_H
