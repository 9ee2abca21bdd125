//===- Cut.cpp - One cut of the joint graph, at given weights --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/Cut.h"

#include <cmath>

namespace ft {

namespace {
constexpr unsigned kSource = 0, kSink = 1, kFirst = 2;

/// The weights of a graph as capacities. More than `most` would add up to more
/// than a cut can count.
class Capacities {
public:
  Capacities(const CutGraph &cutGraph, const CutWeights &cutWeights)
      : graph(cutGraph), weights(cutWeights),
        most((MinCut::Capacity(1) << 60) /
             static_cast<MinCut::Capacity>(1 + graph.calls.size() +
                                           graph.values.size())) {}

  MinCut::Capacity again(unsigned number) const {
    const CutCall &call = graph.calls[number];
    if (call.once || (!weights.once.empty() && weights.once.test(number)) ||
        (call.isExpensive && !weights.perWork))
      return MinCut::kInfinite;
    if (!call.inForward)
      return 0;
    double scale = call.isExpensive
                       ? *weights.perWork
                       : std::min(1.0, weights.perWork.value_or(1));
    double work = call.isExpensive ? call.work : double(call.weight);
    return limited(std::ceil(work * scale)) + (call.weight > 0 ? 1 : 0);
  }

  MinCut::Capacity keeping(const CutValue &value) const {
    if (value.isFree)
      return 0;
    if (value.notKept)
      return MinCut::kInfinite;
    double weight = double(value.bytes) * CutGraph::kByte;
    // A view would be copied, and what only backward needs moved to forward:
    // not for nothing.
    if (value.isView || !graph.calls[value.call].inForward)
      weight += double(value.bytes) * (CutGraph::kByte / 64) + 1;
    return limited(weight);
  }

private:
  MinCut::Capacity limited(double weight) const {
    return weight >= double(most) ? most
                                  : static_cast<MinCut::Capacity>(weight);
  }

  const CutGraph &graph;
  const CutWeights &weights;
  MinCut::Capacity most;
};
} // namespace

std::optional<Cut> cheapestCut(const CutGraph &graph, const CutWeights &weights,
                               llvm::SmallVectorImpl<unsigned> *path) {
  auto count = static_cast<unsigned>(graph.calls.size());
  MinCut cut;
  for (size_t i = 0; i < kFirst + count + graph.values.size(); ++i)
    cut.addNode();
  Capacities capacities(graph, weights);
  auto nodeOf = [&](unsigned value) { return kFirst + count + value; };
  for (unsigned i = 0; i < count; ++i) {
    cut.addEdge(kSource, kFirst + i, capacities.again(i));
    for (unsigned operand : graph.operands[i])
      cut.addEdge(nodeOf(operand), kFirst + i, MinCut::kInfinite);
  }
  for (unsigned v = 0; v < graph.values.size(); ++v) {
    const CutValue &value = graph.values[v];
    cut.addEdge(kFirst + value.call, nodeOf(v), capacities.keeping(value));
    if (value.isNeeded)
      cut.addEdge(nodeOf(v), kSink, MinCut::kInfinite);
  }
  if (cut.solve(kSource, kSink) == MinCut::kInfinite) {
    if (path)
      for (unsigned node : cut.infinitePath())
        if (node >= kFirst)
          path->push_back(node - kFirst);
    return std::nullopt;
  }

  Cut result;
  result.again.resize(count);
  for (unsigned i = 0; i < count; ++i)
    if (cut.onSinkSide(kFirst + i)) {
      result.again.set(i);
      if (graph.calls[i].isExpensive && graph.calls[i].inForward)
        result.work += graph.calls[i].work;
    }
  result.kept.resize(static_cast<unsigned>(graph.values.size()));
  for (unsigned v = 0; v < graph.values.size(); ++v) {
    const CutValue &value = graph.values[v];
    if (value.isFree || !cut.onSinkSide(nodeOf(v)) ||
        result.again.test(value.call))
      continue;
    result.kept.set(v);
    if (!graph.calls[value.call].isArgument)
      result.bytes += value.bytes;
  }
  return result;
}

} // namespace ft
