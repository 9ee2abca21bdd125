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

/// Does once what is worth most of what `lower` does twice, while it fits.
static Cut filled(const CutGraph &graph, int64_t budget, const Cut &lower,
                  double price) {
  struct Candidate {
    unsigned call;
    double worth;
  };
  std::vector<Candidate> candidates;
  std::vector<int64_t> resultBytes(graph.calls.size(), 0);
  for (const CutValue &value : graph.values)
    resultBytes[value.call] += value.bytes;
  for (unsigned i : lower.again.set_bits()) {
    const CutCall &call = graph.calls[i];
    if (call.isExpensive && call.inForward)
      candidates.push_back({i, call.work / double(resultBytes[i] + 1)});
  }
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.worth != b.worth ? a.worth > b.worth : a.call < b.call;
  });
  CutWeights weights;
  weights.perWork = price;
  weights.once.resize(static_cast<unsigned>(graph.calls.size()));
  Cut best = lower;
  for (const Candidate &candidate : candidates) {
    if (!best.again.test(candidate.call)) {
      // What was kept for others has made it unnecessary.
      weights.once.set(candidate.call);
      continue;
    }
    weights.once.set(candidate.call);
    std::optional<Cut> cut = cheapestCut(graph, weights);
    if (cut && cut->bytes <= budget && isBetter(*cut, best))
      best = std::move(*cut);
    else
      weights.once.reset(candidate.call);
  }
  return best;
}

Cut cutWithin(const CutGraph &graph, int64_t budget, const Cut &full,
              const Cut &smallest) {
  if (full.bytes <= budget)
    return full;
  Cut upper = full, lower = smallest;
  double price = 0;
  // A curve has no more corners than expensive calls; prices halve the way.
  for (int step = 0; step < 64 && upper.bytes > lower.bytes; ++step) {
    double work = lower.work - upper.work;
    if (work <= 0)
      break;
    double slope = double(upper.bytes - lower.bytes) * CutGraph::kByte / work;
    CutWeights weights;
    weights.perWork = slope;
    std::optional<Cut> middle = cheapestCut(graph, weights);
    bool isNew =
        middle && middle->bytes != upper.bytes && middle->bytes != lower.bytes;
    if (!isNew)
      break;
    if (middle->bytes <= budget) {
      lower = std::move(*middle);
      price = slope;
    } else {
      upper = std::move(*middle);
    }
  }
  return filled(graph, budget, lower, price);
}

} // namespace ft
