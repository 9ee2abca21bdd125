//===- Budget.cpp - The least work within a number of bytes ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/Budget.h"

#include "llvm/ADT/STLExtras.h"

namespace ft {

Cut smallestCut(const CutGraph &graph) {
  CutWeights weights;
  weights.perWork = 0;
  return *cheapestCut(graph, weights);
}

/// Less work, or as much in fewer bytes.
static bool isBetter(const Cut &a, const Cut &b) {
  return a.work != b.work ? a.work < b.work : a.bytes < b.bytes;
}

namespace {
/// Does once what is worth most of what `lower` does twice, while it fits.
class Filler {
public:
  Filler(const CutGraph &cutGraph, int64_t mostBytes, const Cut &lower,
         double price)
      : graph(cutGraph), budget(mostBytes), best(lower) {
    weights.perWork = price;
    weights.once.resize(static_cast<unsigned>(graph.calls.size()));
  }

  Cut run();

private:
  bool tryGroup(llvm::ArrayRef<unsigned> group);

  const CutGraph &graph;
  int64_t budget;
  Cut best;
  CutWeights weights;
};
} // namespace

/// Whether the calls of the group can all be done once.
bool Filler::tryGroup(llvm::ArrayRef<unsigned> group) {
  llvm::BitVector before = weights.once;
  bool isNew = false;
  for (unsigned call : group) {
    // What was kept for others may have made it unnecessary.
    isNew |= best.again.test(call);
    weights.once.set(call);
  }
  if (!isNew)
    return true;
  std::optional<Cut> cut = cheapestCut(graph, weights);
  if (cut && cut->bytes <= budget && isBetter(*cut, best)) {
    best = std::move(*cut);
    return true;
  }
  weights.once = std::move(before);
  return false;
}

Cut Filler::run() {
  std::vector<int64_t> resultBytes(graph.calls.size(), 0);
  for (const CutValue &value : graph.values)
    resultBytes[value.call] += value.bytes;
  std::vector<unsigned> calls;
  for (unsigned i : best.again.set_bits())
    if (graph.calls[i].isExpensive && graph.calls[i].inForward)
      calls.push_back(i);
  auto worth = [&](unsigned call) {
    return graph.calls[call].work / double(resultBytes[call] + 1);
  };
  llvm::sort(calls, [&](unsigned a, unsigned b) {
    return worth(a) != worth(b) ? worth(a) > worth(b) : a < b;
  });
  llvm::SmallVector<llvm::ArrayRef<unsigned>> groups;
  if (!calls.empty())
    groups.push_back(calls);
  using Search = BudgetSearch;
  size_t most = std::clamp(Search::kMostCuts * Search::kFewCalls /
                               (graph.calls.size() + 1),
                           Search::kLeastCuts, Search::kMostCuts);
  for (size_t cuts = 0; !groups.empty() && cuts < most; ++cuts) {
    llvm::ArrayRef<unsigned> group = groups.pop_back_val();
    if (tryGroup(group) || group.size() == 1)
      continue;
    size_t half = group.size() / 2;
    groups.push_back(group.drop_front(half));
    groups.push_back(group.take_front(half));
  }
  return best;
}

BudgetSearch::BudgetSearch(const CutGraph &cutGraph, Cut full)
    : graph(cutGraph) {
  corners.push_back({std::move(full)});
  corners.push_back({smallestCut(graph)});
}

Cut BudgetSearch::within(int64_t budget) {
  if (full().bytes <= budget)
    return full();
  // The corner within the budget, behind the one above it.
  auto lower = [&] {
    auto it = llvm::find_if(corners, [&](const Corner &corner) {
      return corner.cut.bytes <= budget;
    });
    return it == corners.end() ? std::prev(it) : it;
  };
  // A curve has no more corners than expensive calls; prices halve the way.
  for (int step = 0; step < 64; ++step) {
    auto at = lower();
    const Cut &few = at->cut, &many = std::prev(at)->cut;
    double work = few.work - many.work;
    if (work <= 0 || many.bytes <= few.bytes)
      break;
    double slope = double(many.bytes - few.bytes) * CutGraph::kByte / work;
    CutWeights weights;
    weights.perWork = slope;
    std::optional<Cut> middle = cheapestCut(graph, weights);
    if (!middle || middle->bytes >= many.bytes || middle->bytes <= few.bytes)
      break;
    corners.insert(at, {std::move(*middle), slope});
  }
  auto at = lower();
  return Filler(graph, budget, at->cut, at->price).run();
}

} // namespace ft
