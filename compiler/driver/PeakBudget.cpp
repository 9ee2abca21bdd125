//===- PeakBudget.cpp - A partition whose step fits in some bytes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/PeakBudget.h"

#include "compiler/partition/SplitJoint.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace ft {

FailureOr<TriedBudget> tryBudget(ModuleOp joint, PartitionOptions options,
                                 const LowerOptions &lower) {
  options.orSmallest = true;
  TriedBudget tried{OwningOpRef<ModuleOp>(joint.clone()), {}};
  if (failed(splitJoint(*tried.programs, options)))
    return failure();
  FailureOr<ArenaPlan> plan = planArenas(*tried.programs, lower);
  if (failed(plan))
    return failure();
  tried.plan = *plan;
  return tried;
}

std::vector<double> triedBudgets() {
  std::vector<double> budgets;
  for (int percent = 95; percent >= 0; percent -= 5)
    budgets.push_back(percent / 100.0);
  return budgets;
}

LogicalResult partitionWithin(ModuleOp module, PartitionOptions options,
                              int64_t bytes, const LowerOptions &lower) {
  options.orSmallest = true;
  std::vector<std::optional<double>> budgets = {std::nullopt};
  llvm::append_range(budgets, triedBudgets());
  std::optional<int64_t> smallest;
  for (std::optional<double> budget : budgets) {
    options.budget = budget;
    FailureOr<TriedBudget> tried = tryBudget(module, options, lower);
    if (failed(tried))
      return failure();
    int64_t peak = tried->plan.bytesAtHints;
    if (peak <= bytes)
      return splitJoint(module, options);
    smallest = smallest ? std::min(*smallest, peak) : peak;
  }
  return emitError(module.getLoc())
         << "[FT0905] the memory budget of " << bytes
         << " bytes cannot be reached: forward and backward work in at least "
         << *smallest << " bytes\nhelp: --memory-budget " << *smallest
         << "B is the smallest";
}

} // namespace ft
