//===- PeakBudget.h - A partition whose step fits in some bytes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--memory-budget 8GiB`: the arena of forward and backward, saved values
// included, is to have at most so many bytes.
//
// Idea: the partition takes budgets as fractions of what is kept without one.
// Fractions are tried from 1 down in steps of 5 %, each partition is lowered on
// a copy, and its arena is what the artefact would allocate. The first that
// fits is taken: it computes least again. What is kept and what is live are not
// the same (values that are computed again need memory too), so a lower
// fraction may have a higher peak and all are looked at before giving up.
//
// Invariant: a lower budget never gives a higher peak: candidates and their
// order do not depend on the budget.
// Cost: a partition and a lowering for each fraction tried, at most 21.

#ifndef FORETRACE_COMPILER_DRIVER_PEAKBUDGET_H
#define FORETRACE_COMPILER_DRIVER_PEAKBUDGET_H

#include "compiler/lower/Lower.h"
#include "compiler/partition/PartitionOptions.h"

#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace ft {

/// A partition that was tried on a copy, and what it would allocate.
struct TriedBudget {
  mlir::OwningOpRef<mlir::ModuleOp> programs;
  ArenaPlan plan;
};

/// With options.budget, or the smallest that can be reached. What partition or
/// lowering report is an error.
mlir::FailureOr<TriedBudget> tryBudget(mlir::ModuleOp joint,
                                       PartitionOptions options,
                                       const LowerOptions &lower);

/// The budgets that are tried below none: 0.95, 0.9, …, 0.
std::vector<double> triedBudgets();

/// Replaces the joint graph of a module by programs whose arena has at most
/// `bytes` (symbols at their hints). Reports [FT0905] with the smallest peak
/// that was found, or what partition and lowering report.
mlir::LogicalResult partitionWithin(mlir::ModuleOp module,
                                    PartitionOptions options, int64_t bytes,
                                    const LowerOptions &lower);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_PEAKBUDGET_H
