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
// does twice, those that are worth most by byte are kept, as long as it fits;
// each is tried with a cut of its own, so that what a kept value makes
// unnecessary is seen.
//
// Invariant: the bytes of the answer are at most the budget, and a lower budget
// never gives more bytes.
// Cost: a cut for each corner on the way (few) and for each expensive call of
// the lower corner.

#ifndef FORETRACE_COMPILER_PARTITION_BUDGET_H
#define FORETRACE_COMPILER_PARTITION_BUDGET_H

#include "compiler/partition/Cut.h"

namespace ft {

/// As few bytes as can be.
Cut smallestCut(const CutGraph &graph);

/// `full`: the cut without a budget, `smallest`: smallestCut. The latter if
/// nothing else fits.
Cut cutWithin(const CutGraph &graph, int64_t budget, const Cut &full,
              const Cut &smallest);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_BUDGET_H
