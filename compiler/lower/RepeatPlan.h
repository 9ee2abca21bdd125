//===- RepeatPlan.h - What to compute once more, to need less memory *- C++
//-*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value that is read now and again much later takes memory all the while.
// Where memory is short it may go in between and be computed a second time.
//
//   given    a = f(s); b = g(a); c = h(b); BIG; use c; use b; use a
//   planned  a = f(s); b = g(a); c = h(b); BIG; use c; a = f(s); b = g(a);
//            use b; use a                       nothing but c and s while BIG
//
// Idea: the steps are played through in their order, with a limit for the bytes
// that are live. Where a step needs room, values go whose next reader is far,
// that are large, and that take little to compute again; what has to be
// computed again because a source of it has gone as well counts with it. A step
// whose operand is not there has it computed in front of it, sources first.
// That is how caches work, with one difference: the future is known.
//
// Invariant: each read finds its value; a value without a recipe never goes
// while something may still be computed from it. The limit is a wish: where all
// that is left has to stay, more is live.
// Cost: O(values) for each value that goes, and all once more for each that is
// repeated; at most kMostLooks looks at values, then nothing goes any more.

#ifndef FORETRACE_COMPILER_LOWER_REPEATPLAN_H
#define FORETRACE_COMPILER_LOWER_REPEATPLAN_H

#include "compiler/lower/KernelOrder.h"

#include <optional>

namespace ft {

/// How a value can be computed once more.
struct Recipe {
  /// Numbers of values, each once.
  llvm::SmallVector<unsigned, 4> reads;
  /// In any unit.
  double cost = 1;
};

struct RepeatProblem {
  /// The steps are played in the order given here.
  OrderProblem order;
  /// Of each value; nothing: it cannot be computed again.
  std::vector<std::optional<Recipe>> recipes;
  /// Of each step, what it may write its only result over if it is the last
  /// that reads it; may be empty.
  std::vector<llvm::SmallVector<unsigned, 2>> inPlace = {};
};

/// A step of the problem, or (`step` < 0) `value` is computed once more. What
/// reads a value reads what was made of it last.
struct PlayedStep {
  int step = -1;
  unsigned value = 0;
};

/// At most `limit` bytes live, if that can be, and never more than in the given
/// order, which is the answer where nothing helps. Then what need not have
/// gone, after all that went later, stays, the dearest first. Steps that only
/// make values that all have recipes are left out if nothing reads what they
/// made before it is computed again.
std::vector<PlayedStep> planRepeats(const RepeatProblem &problem,
                                    int64_t limit);

/// The most bytes that are live at one step; what is written over counts once.
int64_t peakOfPlay(const RepeatProblem &problem,
                   const std::vector<PlayedStep> &play);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_REPEATPLAN_H
