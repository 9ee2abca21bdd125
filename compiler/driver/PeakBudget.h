//===- PeakBudget.h - Budgets that are held against the peak ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `--memory-budget` chooses: 0.5, so many of the bytes that are kept
// without a budget; 8GiB, the arena of forward and backward. A lower budget of
// either kind never has a higher peak.
//
// Idea: cuts for fractions from 1 down in steps of 5 % (10 % from 5,000 calls
// on, 25 % from 20,000) are lowered on a copy, and the arena is what the
// artefact would allocate. A cut keeps less than the one before, but what is
// computed again needs memory too, so its peak may be higher. Then values go
// while memory is short and are computed once more (ft.peak, RepeatKernels.h),
// until the peak is not above that of the cut before. A list is made of the
// cuts for which this comes to that:
//
//   fraction      1    0.95   0.9   0.85   0.8   0.75   …
//   peak         213   197    197    .     205   231
//   entered      213   197     .     .      .    194    nothing or little
//   things
//                                                        repeated
//   filled in                              196           products repeated:
//   only
//                                                        in a gap, and not
//                                                        below what comes after
//                                                        it
//
// Peaks and kept bytes fall along the list, and it does not depend on the
// budget. A budget takes, from the first that keeps (or works in) no more than
// it says on, the one with the least work: so a lower budget never has a higher
// peak, nor does it keep more. One below the last of the list is refused
// [FT0905] with the smallest there is.
//
// Cost: for each fraction on the way a partition and a lowering, up to
// seven lowerings where values have to go.

#ifndef FORETRACE_COMPILER_DRIVER_PEAKBUDGET_H
#define FORETRACE_COMPILER_DRIVER_PEAKBUDGET_H

#include "compiler/lower/Lower.h"
#include "compiler/partition/PartitionOptions.h"

#include "mlir/IR/OwningOpRef.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace ft {

/// A partition that was tried on a copy, and what it would allocate.
struct TriedBudget {
  mlir::OwningOpRef<mlir::ModuleOp> programs;
  ArenaPlan plan;
  /// What was asked for; 1: no budget.
  double fraction = 1;
  /// Activations that are kept.
  int64_t savedBytes = 0;
  /// What backward does again, with what the plan repeats: products,
  /// convolutions and attentions; then floating point operations of all.
  std::pair<int64_t, int64_t> work = {};
};

/// The list of partitions, from no budget down, made as far as it is asked for.
class BudgetList {
public:
  /// `options`: of all partitions; its budget is not looked at. `joint` and
  /// `lower` must outlive the list.
  BudgetList(mlir::ModuleOp joint, PartitionOptions options,
             const LowerOptions &lower);

  /// The next one; without programs: there is none. What partition or lowering
  /// report is an error.
  mlir::FailureOr<TriedBudget> next();
  /// Less than the work of what next() will give: without what is repeated.
  /// Nothing: it will give none.
  mlir::FailureOr<std::optional<std::pair<int64_t, int64_t>>> leastWork();
  /// Whether a cut behind the last one has not entered.
  bool hasLeftOut() const { return !gap.empty(); }

private:
  mlir::LogicalResult cutNext();
  mlir::FailureOr<bool> fits(TriedBudget &tried, int64_t most, bool byProducts);
  mlir::LogicalResult fillGap(TriedBudget behind);

  mlir::ModuleOp joint;
  PartitionOptions options;
  const LowerOptions &lower;
  /// The next cut that was not lowered yet, if any is left.
  TriedBudget ahead;
  int percent = 100, step = 5, tries = 3;
  /// Of the last cut, and of the last that entered (-1: none).
  int64_t cutBytes = -1, peak = -1;
  bool isEnded = false;
  /// Cuts since then that have not, and those that are in the list by now.
  std::vector<TriedBudget> gap;
  std::deque<TriedBudget> ready;
};

/// Replaces the joint graph of a module by the programs for a budget: a
/// fraction, or bytes of the arena (symbols at their hints). Reports [FT0905]
/// with the smallest that there is, or what partition and lowering report. Of a
/// graph that cannot be lowered only a fraction is held, and no peak.
mlir::LogicalResult partitionWithin(mlir::ModuleOp module,
                                    PartitionOptions options, double fraction,
                                    const LowerOptions &lower);
mlir::LogicalResult partitionWithinPeak(mlir::ModuleOp module,
                                        PartitionOptions options, int64_t bytes,
                                        const LowerOptions &lower);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_PEAKBUDGET_H
