//===- KeptValues.cpp - What forward keeps for backward --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/KeptValues.h"

#include "compiler/partition/CutGraph.h"

using namespace mlir;

namespace ft {

namespace {
/// The nodes of the cut: the source, the sink, the calls, then the values.
class Cut {
public:
  explicit Cut(const CutGraph &cutGraph);
  /// False if every cut is infinite.
  bool solve() { return cut.solve(kSource, kSink) != MinCut::kInfinite; }
  KeptValues kept() const;
  LogicalResult explain(const JointGraph &joint) const;

private:
  static constexpr unsigned kSource = 0, kSink = 1;
  unsigned nodeOf(const CutValue &value) const {
    return 2 + static_cast<unsigned>(graph.calls.size() +
                                     (&value - graph.values.data()));
  }
  MinCut::Capacity keeping(const CutValue &value) const;

  const CutGraph &graph;
  MinCut cut;
};
} // namespace

/// Weights beyond this add up to more than a cut can count.
static MinCut::Capacity limited(MinCut::Capacity weight, size_t count) {
  MinCut::Capacity most = (MinCut::Capacity(1) << 60) / (1 + count);
  return std::min(weight, most);
}

MinCut::Capacity Cut::keeping(const CutValue &value) const {
  if (value.notKept)
    return MinCut::kInfinite;
  if (value.isFree)
    return 0;
  size_t count = graph.calls.size() + graph.values.size();
  const MinCut::Capacity most =
      (MinCut::Capacity(1) << 50) / CutGraph::kByte; // before the product
  MinCut::Capacity weight = std::min(value.bytes, most) * CutGraph::kByte;
  // A view would be copied, and what only backward needs moved to forward: not
  // for nothing.
  if (value.isView || !graph.calls[value.call].inForward)
    weight += std::min(value.bytes, most) * (CutGraph::kByte / 64) + 1;
  return limited(weight, count);
}

Cut::Cut(const CutGraph &cutGraph) : graph(cutGraph) {
  size_t count = graph.calls.size() + graph.values.size();
  for (size_t i = 0; i < 2 + count; ++i)
    cut.addNode();
  for (auto [i, call] : llvm::enumerate(graph.calls)) {
    auto node = 2 + static_cast<unsigned>(i);
    if (call.inForward || call.once)
      cut.addEdge(kSource, node,
                  call.once || call.isExpensive ? MinCut::kInfinite
                                                : limited(call.weight, count));
    for (unsigned operand : graph.operands[i])
      cut.addEdge(nodeOf(graph.values[operand]), node, MinCut::kInfinite);
  }
  for (const CutValue &value : graph.values) {
    cut.addEdge(2 + value.call, nodeOf(value), keeping(value));
    if (value.isNeeded)
      cut.addEdge(nodeOf(value), kSink, MinCut::kInfinite);
  }
}

static std::string reasonOf(const CutCall &call) {
  if (!call.op)
    return "forward writes it and backward reads it as it was";
  if (call.once)
    return call.once;
  if (call.isExpensive)
    return "computing it again is expensive";
  return "what it is made of takes as many bytes or more";
}

KeptValues Cut::kept() const {
  KeptValues kept;
  for (const CutValue &value : graph.values)
    if (!value.isFree && cut.onSinkSide(nodeOf(value)) &&
        !cut.onSinkSide(2 + value.call))
      kept.insert({value.value, reasonOf(graph.calls[value.call])});
  return kept;
}

/// The way from what must not be done again to what cannot be kept, the user's
/// own word first.
LogicalResult Cut::explain(const JointGraph &joint) const {
  std::string way;
  const CutCall *first = nullptr;
  const CutValue *blamed = nullptr;
  for (unsigned node : cut.infinitePath()) {
    if (node < 2)
      continue;
    if (node - 2 < graph.calls.size()) {
      first = first ? first : &graph.calls[node - 2];
      continue;
    }
    const CutValue &value = graph.values[node - 2 - graph.calls.size()];
    if (!blamed ||
        (value.notKept && StringRef(value.notKept).starts_with("ft.recompute")))
      blamed = &value;
    way += (way.empty() ? "" : " -> ") + joint.nameOf(value.value);
  }
  std::string source =
      joint.nameOf(first->op ? first->op->getResult(0) : Value(blamed->value));
  return emitError(blamed->value.getLoc())
         << "[FT0903] the backward pass needs '" << joint.nameOf(blamed->value)
         << "', which cannot be kept (" << blamed->notKept
         << ") nor computed again: '" << source << "' is not done twice ("
         << (first->once ? first->once : "it is expensive")
         << ")\nnote: the way there is " << way;
}

FailureOr<KeptValues> chooseKept(const JointGraph &joint, ModuleOp module,
                                 const PartitionOptions &options) {
  if (failed(markByName(joint, options)))
    return failure();
  CutGraph graph(joint, module);
  Cut cut(graph);
  if (!cut.solve())
    return cut.explain(joint);
  return cut.kept();
}

} // namespace ft
