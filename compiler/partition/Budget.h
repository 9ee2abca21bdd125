//===- Budget.h - The least work within a number of bytes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What to keep in at most so many bytes, so that the fewest expensive calls
// (products, convolutions, attention) are done twice.
//
// Idea: a cut at a price per unit of work is best for the bytes it comes to.
// The prices between "never" and 0 give the corners of the curve of bytes
// against work; the corner within the budget and the one above it are found by
// the price at which they would be equal, again and again:
//
//   bytes                     A: no expensive call twice
//     │A                      Z: as few bytes as can be
//     │ ╲                     C: the best at the slope of A─Z; then that of C─Z
//     … │   C ─ budget │     ╲___ Z └────────── work
//
// Between two corners the budget is filled: of the calls that the lower corner
// does twice, those that are worth most by byte are kept, as long as it fits:
// all of them, else the better half and then what of the other half fits, and
// so on. Each group is tried with a cut of its own, so that what a kept value
// makes unnecessary is seen.
//
// Invariant: the bytes of the answer are at most the budget, but for those that
// have to be kept.
// Cost: a cut for each corner on the way (few), and to fill at most two for
// each expensive call of the lower corner, and no more than kMostCuts.

#ifndef FORETRACE_COMPILER_PARTITION_BUDGET_H
#define FORETRACE_COMPILER_PARTITION_BUDGET_H

#include "compiler/partition/Cut.h"

namespace ft {

/// As few bytes as can be.
Cut smallestCut(const CutGraph &graph);

/// Answers budgets of one graph; corners that were found are kept for the next.
class BudgetSearch {
public:
  /// `full`: the cut without a budget.
  BudgetSearch(const CutGraph &graph, Cut full);

  /// smallest() if nothing else fits.
  Cut within(int64_t budget);
  const Cut &full() const { return corners.front().cut; }
  const Cut &smallest() const { return corners.back().cut; }

  /// What filling a budget may cost: enough to try 64 calls one by one on a
  /// graph of kFewCalls, fewer cuts on larger ones.
  static constexpr size_t kMostCuts = 128, kLeastCuts = 8, kFewCalls = 1000;

private:
  /// A cut that is the best of its bytes, and the price that led there.
  struct Corner {
    Cut cut;
    double price = 0;
  };

  const CutGraph &graph;
  /// By bytes, from many to few.
  std::vector<Corner> corners;
};

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_BUDGET_H
