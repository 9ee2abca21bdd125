//===- PeakBudget.cpp - A partition whose step fits in some bytes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/PeakBudget.h"

#include "compiler/partition/SplitJoint.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;

namespace ft {

/// The arena of the model with these options; nothing if it cannot be lowered,
/// which MLIR was told.
static std::optional<int64_t> peakWith(ModuleOp module,
                                       const PartitionOptions &options,
                                       const LowerOptions &lower) {
  OwningOpRef<ModuleOp> copy(module.clone());
  if (failed(splitJoint(*copy, options)))
    return std::nullopt;
  FailureOr<ArenaPlan> plan = planArenas(*copy, lower);
  return succeeded(plan) ? std::optional(plan->bytesAtHints) : std::nullopt;
}

LogicalResult partitionWithin(ModuleOp module, PartitionOptions options,
                              int64_t bytes, const LowerOptions &lower) {
  options.orSmallest = true;
  options.budget.reset();
  std::optional<int64_t> smallest;
  for (int percent = 100; percent >= 0; percent -= 5) {
    if (percent < 100)
      options.budget = percent / 100.0;
    std::optional<int64_t> peak = peakWith(module, options, lower);
    if (!peak)
      return failure();
    if (*peak <= bytes)
      return splitJoint(module, options);
    smallest = smallest ? std::min(*smallest, *peak) : *peak;
  }
  return emitError(module.getLoc())
         << "[FT0905] the memory budget of " << bytes
         << " bytes cannot be reached: forward and backward work in at least "
         << *smallest << " bytes\nhelp: --memory-budget " << *smallest
         << "B is the smallest";
}

} // namespace ft
