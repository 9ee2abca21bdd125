//===- PeakBudget.cpp - Budgets that are held against the peak ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/PeakBudget.h"

#include "compiler/driver/PartitionReport.h"
#include "compiler/partition/PartitionNames.h"
#include "compiler/partition/SplitJoint.h"
#include "dialects/ft/Programs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace ft {

/// Between two fractions that are tried, in percent: more where a lowering
/// takes long.
static int stepFor(size_t calls) {
  return calls <= 5000 ? 5 : calls <= 20000 ? 10 : 25;
}

/// How often a limit is lowered by what the peak was above it.
static int triesFor(size_t calls) { return calls <= 5000 ? 3 : 2; }

using Work = std::pair<int64_t, int64_t>;

static Work workOf(const PartitionTable &table) {
  return {
      llvm::count_if(table.recomputed,
                     [](const RecomputedRow &row) { return row.isProduct; }),
      table.recomputedFlops};
}

/// What backward is to work in (PartitionNames.h); nothing: whatever it takes.
static void setPeak(ModuleOp programs, std::optional<int64_t> bytes,
                    bool byProducts) {
  Builder b(programs.getContext());
  for (ModuleOp program : programsOf(programs)) {
    if (programName(program) != "backward")
      continue;
    program->removeAttr(names::kPeak);
    program->removeAttr(names::kPeakByProducts);
    if (bytes)
      program->setAttr(names::kPeak, b.getI64IntegerAttr(*bytes));
    if (bytes && byProducts)
      program->setAttr(names::kPeakByProducts, b.getUnitAttr());
  }
}

BudgetList::BudgetList(ModuleOp jointModule, PartitionOptions partition,
                       const LowerOptions &lowerOptions)
    : joint(jointModule), options(std::move(partition)), lower(lowerOptions) {
  options.orSmallest = true;
  auto function = joint.lookupSymbol<func::FuncOp>("forward");
  size_t calls = function && !function.isExternal()
                     ? function.front().getOperations().size()
                     : 0;
  step = stepFor(calls);
  tries = triesFor(calls);
}

/// The next cut that keeps other bytes than the last, if it is not there yet.
LogicalResult BudgetList::cutNext() {
  for (; !ahead.programs && percent >= 0; percent -= step) {
    TriedBudget cut{OwningOpRef<ModuleOp>(joint.clone()), {}};
    cut.fraction = percent / 100.0;
    options.budget.reset();
    if (percent < 100)
      options.budget = cut.fraction;
    if (failed(splitJoint(*cut.programs, options)))
      return failure();
    PartitionTable table = partitionTable(*cut.programs);
    cut.savedBytes = table.savedBytes;
    cut.work = workOf(table);
    if (cut.savedBytes == cutBytes)
      continue;
    cutBytes = cut.savedBytes;
    ahead = std::move(cut);
  }
  return success();
}

/// Repeats what it takes to work in `most` bytes, if that can be.
FailureOr<bool> BudgetList::fits(TriedBudget &tried, int64_t most,
                                 bool byProducts) {
  LowerOptions how = lower;
  how.useful = most;
  int64_t limit = most;
  for (int i = 0; i < tries && limit > 0; ++i) {
    setPeak(*tried.programs, limit, byProducts);
    FailureOr<ArenaPlan> plan = planArenas(*tried.programs, how);
    if (failed(plan))
      return failure();
    tried.plan = *plan;
    if (plan->bytesAtHints <= most) {
      tried.work = workOf(partitionTable(*tried.programs, &*plan));
      return true;
    }
    limit -= plan->bytesAtHints - most;
  }
  return false;
}

/// Puts cuts in the gap between two of the list where products may be repeated.
/// Their peaks are not below that of the one behind, unless this saves a
/// product: then the list goes on from there, and that one is tried again.
LogicalResult BudgetList::fillGap(TriedBudget behind) {
  int64_t below = behind.programs ? behind.plan.bytesAtHints : 0;
  std::vector<TriedBudget> cuts = std::exchange(gap, {});
  for (TriedBudget &cut : cuts) {
    FailureOr<bool> enters = fits(cut, peak, true);
    if (failed(enters))
      return failure();
    bool isLower = *enters && cut.plan.bytesAtHints < below;
    if (!*enters || (isLower && cut.work.first >= behind.work.first)) {
      gap.push_back(std::move(cut));
      continue;
    }
    gap.clear();
    peak = cut.plan.bytesAtHints;
    if (isLower) {
      percent = static_cast<int>(std::lround(100 * cut.fraction)) - step;
      cutBytes = cut.savedBytes;
      ready.push_back(std::move(cut));
      return success();
    }
    ready.push_back(std::move(cut));
  }
  if (behind.programs) {
    gap.clear();
    peak = below;
    ready.push_back(std::move(behind));
  }
  return success();
}

FailureOr<TriedBudget> BudgetList::next() {
  while (ready.empty()) {
    if (failed(cutNext()))
      return failure();
    if (!ahead.programs) {
      if (std::exchange(isEnded, true))
        return TriedBudget();
      if (failed(fillGap({})))
        return failure();
      if (ready.empty())
        return TriedBudget();
      break;
    }
    TriedBudget cut = std::move(ahead);
    ahead = {};
    LowerOptions how = lower;
    if (peak >= 0)
      how.useful = peak;
    FailureOr<ArenaPlan> plan = planArenas(*cut.programs, how);
    if (failed(plan))
      return failure();
    cut.plan = *plan;
    bool enters = peak < 0 || plan->bytesAtHints <= peak;
    if (!enters) {
      FailureOr<bool> now = fits(cut, peak, false);
      if (failed(now))
        return failure();
      enters = *now;
    }
    if (!enters) {
      gap.push_back(std::move(cut));
      continue;
    }
    if (failed(fillGap(std::move(cut))))
      return failure();
  }
  TriedBudget first = std::move(ready.front());
  ready.pop_front();
  return first;
}

FailureOr<std::optional<Work>> BudgetList::leastWork() {
  if (!ready.empty())
    return std::optional(ready.front().work);
  if (failed(cutNext()))
    return failure();
  return ahead.programs ? std::optional(ahead.work) : std::nullopt;
}

/// The joint graph goes, the programs come.
static void take(ModuleOp module, const TriedBudget &tried) {
  ModuleOp programs = *tried.programs;
  module->setAttrs(programs->getAttrDictionary());
  module.getBodyRegion().takeBody(programs.getBodyRegion());
}

/// Takes, from the first of the list that is within the budget on, the one of
/// least work: `first`, or one that list gives. None can be behind one that
/// takes more without what it repeats.
static LogicalResult takeBest(ModuleOp module, BudgetList &list,
                              TriedBudget best) {
  while (true) {
    FailureOr<std::optional<Work>> least = list.leastWork();
    if (failed(least))
      return failure();
    if (!*least || **least >= best.work)
      break;
    FailureOr<TriedBudget> next = list.next();
    if (failed(next))
      return failure();
    if (!next->programs)
      break;
    if (next->work < best.work)
      best = std::move(*next);
  }
  take(module, best);
  return success();
}

static LogicalResult notReached(ModuleOp module, int64_t budget, int64_t full,
                                const TriedBudget &last, bool byPeak) {
  auto share = llvm::formatv(
      "{0:f3}",
      std::ceil(1000 * double(last.savedBytes) / double(full)) / 1000);
  InFlightDiagnostic report =
      emitError(module.getLoc())
      << "[FT0905] the memory budget of " << budget
      << " bytes cannot be reached: at least " << last.savedBytes
      << " bytes have to be kept for the backward pass, " << share.str()
      << " of the " << full << " that are kept without a budget";
  if (byPeak)
    report << "; to keep less raises the peak of forward and backward, which "
              "is "
           << last.plan.bytesAtHints << " bytes with them";
  return report << "\nhelp: --memory-budget " << share.str()
                << " is the smallest";
}

LogicalResult partitionWithin(ModuleOp module, PartitionOptions options,
                              double fraction, const LowerOptions &lower) {
  options.budget = fraction;
  if (fraction >= 1)
    return splitJoint(module, options);
  BudgetList list(module, options, lower);
  TriedBudget last;
  {
    // A graph that cannot be lowered may be partitioned all the same.
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](mlir::Diagnostic &) { return success(); });
    FailureOr<TriedBudget> full = list.next();
    if (succeeded(full))
      last = std::move(*full);
  }
  if (!last.programs)
    return splitJoint(module, options);
  int64_t full = last.savedBytes;
  auto budget = static_cast<int64_t>(double(full) * fraction);
  while (last.savedBytes > budget) {
    FailureOr<TriedBudget> next = list.next();
    if (failed(next))
      return failure();
    if (!next->programs)
      return notReached(module, budget, full, last, list.hasLeftOut());
    last = std::move(*next);
  }
  return takeBest(module, list, std::move(last));
}

LogicalResult partitionWithinPeak(ModuleOp module, PartitionOptions options,
                                  int64_t bytes, const LowerOptions &lower) {
  BudgetList list(module, std::move(options), lower);
  int64_t least = 0;
  while (true) {
    FailureOr<TriedBudget> next = list.next();
    if (failed(next))
      return failure();
    if (!next->programs)
      return emitError(module.getLoc())
             << "[FT0905] the memory budget of " << bytes
             << " bytes cannot be reached: forward and backward work in at "
                "least "
             << least << " bytes\nhelp: --memory-budget " << least
             << "B is the smallest";
    least = next->plan.bytesAtHints;
    if (least <= bytes)
      return takeBest(module, list, std::move(*next));
  }
}

} // namespace ft
