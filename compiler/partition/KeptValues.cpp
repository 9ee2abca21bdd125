//===- KeptValues.cpp - What forward keeps for backward --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/KeptValues.h"

#include "compiler/partition/Budget.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ft {

static std::string reasonOf(const CutCall &call) {
  if (call.isArgument)
    return "forward writes it and backward reads it as it was";
  if (call.once)
    return call.once;
  if (call.isExpensive)
    return "computing it again is expensive";
  return "what it is made of takes as many bytes or more";
}

/// The way from what must not be done again to what cannot be kept, the user's
/// own word first.
static LogicalResult explain(const JointGraph &joint, const CutGraph &graph,
                             ArrayRef<unsigned> path) {
  std::string way;
  const CutCall *first = nullptr;
  const CutValue *blamed = nullptr;
  for (unsigned node : path) {
    if (node < graph.calls.size()) {
      first = first ? first : &graph.calls[node];
      continue;
    }
    const CutValue &value = graph.values[node - graph.calls.size()];
    if (value.notKept &&
        (!blamed || StringRef(value.notKept).starts_with("ft.recompute")))
      blamed = &value;
    way += (way.empty() ? "" : " -> ") + joint.nameOf(value.value);
  }
  return emitError(blamed->value.getLoc())
         << "[FT0903] the backward pass needs '" << joint.nameOf(blamed->value)
         << "', which cannot be kept (" << blamed->notKept
         << ") nor computed again: '"
         << joint.nameOf(first->op ? first->op->getResult(0) : blamed->value)
         << "' is not done twice ("
         << (first->once ? first->once : "it is expensive")
         << ")\nnote: the way there is " << way;
}

/// Rounded up: what the numbers say can be reached.
static double shareOf(int64_t bytes, int64_t full) {
  return full ? std::ceil(1000 * double(bytes) / double(full)) / 1000 : 0;
}

static LogicalResult notReached(const JointGraph &joint, int64_t budget,
                                const Cut &full, const Cut &smallest) {
  auto share = llvm::formatv("{0:f3}", shareOf(smallest.bytes, full.bytes));
  return emitError(joint.function().getLoc())
         << "[FT0905] the memory budget of " << budget
         << " bytes cannot be reached: at least " << smallest.bytes
         << " bytes have to be kept for the backward pass, " << share.str()
         << " of the " << full.bytes
         << " that are kept without a budget\nhelp: --memory-budget "
         << share.str() << " is the smallest";
}

FailureOr<KeptValues> chooseKept(const JointGraph &joint, ModuleOp module,
                                 const PartitionOptions &options) {
  if (failed(markByName(joint, options)))
    return failure();
  CutGraph graph(joint, module);
  SmallVector<unsigned> path;
  std::optional<Cut> cut = cheapestCut(graph, {}, &path);
  if (!cut)
    return explain(joint, graph, path);
  if (options.budget) {
    auto budget = static_cast<int64_t>(double(cut->bytes) * *options.budget);
    BudgetSearch search(graph, std::move(*cut));
    if (search.smallest().bytes > budget && !options.orSmallest)
      return notReached(joint, budget, search.full(), search.smallest());
    cut = search.within(budget);
  }
  KeptValues kept;
  for (unsigned v : cut->kept.set_bits())
    kept.insert(
        {graph.values[v].value, reasonOf(graph.calls[graph.values[v].call])});
  return kept;
}

static BudgetPoint pointOf(const CutGraph &graph, const Cut &cut,
                           int64_t most) {
  BudgetPoint point;
  point.bytes = cut.bytes;
  point.budget = cut.bytes == most ? 1 : shareOf(cut.bytes, most);
  for (unsigned i : cut.again.set_bits()) {
    const CutCall &call = graph.calls[i];
    if (!call.inForward)
      continue;
    if (llvm::AddOverflow(point.flops, call.flops, point.flops))
      point.flops = std::numeric_limits<int64_t>::max();
    point.products += call.isExpensive;
  }
  return point;
}

FailureOr<std::vector<BudgetPoint>>
budgetPoints(const JointGraph &joint, ModuleOp module,
             const PartitionOptions &options, ArrayRef<double> budgets) {
  if (failed(markByName(joint, options)))
    return failure();
  CutGraph graph(joint, module);
  SmallVector<unsigned> path;
  std::optional<Cut> full = cheapestCut(graph, {}, &path);
  if (!full)
    return explain(joint, graph, path);
  BudgetSearch search(graph, std::move(*full));
  int64_t most = search.full().bytes;
  std::vector<BudgetPoint> points = {pointOf(graph, search.full(), most)};
  for (double budget : budgets) {
    Cut cut = search.within(static_cast<int64_t>(double(most) * budget));
    if (cut.bytes != points.back().bytes)
      points.push_back(pointOf(graph, cut, most));
  }
  return points;
}

} // namespace ft
