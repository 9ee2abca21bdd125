//===- CutGraph.cpp - The joint graph as a graph to cut --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/CutGraph.h"

#include "compiler/partition/CallAgain.h"
#include "compiler/partition/ControlCost.h"
#include "compiler/partition/Cost.h"
#include "compiler/partition/PartitionNames.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace ft {

CutGraph::CutGraph(const JointGraph &graph, ModuleOp module) : hints(module) {
  for (BlockArgument argument : graph.body().getArguments())
    if (graph.kindOf(argument) != "tangent")
      addArgument(graph, argument);
  for (Operation &op : graph.body().without_terminator())
    if (!graph.isLate(&op))
      addCall(graph, &op);
  for (Value value : graph.neededLate())
    values[numbers.at(value)].isNeeded = true;
}

void CutGraph::addArgument(const JointGraph &graph, BlockArgument argument) {
  CutValue value;
  value.value = argument;
  value.call = static_cast<unsigned>(calls.size());
  value.isFree = !graph.isWritten(argument);
  if (!value.isFree)
    if (std::optional<TensorMeta> meta = metaOf(argument))
      value.bytes = hints.bytes(*meta);
  numbers[argument] = static_cast<unsigned>(values.size());
  values.push_back(value);
  CutCall call;
  call.isArgument = true;
  call.once = "an argument";
  calls.push_back(call);
  operands.emplace_back();
}

/// Sets why the call cannot be done again, and what it costs if it can.
void CutGraph::weigh(CutCall &call) {
  Operation *op = call.op;
  const Schema *schema = schemaOf(op);
  if (op->hasAttr(names::kKeep) && !op->hasAttr(names::kRecompute))
    call.once = "ft.keep forbids it";
  else if (schema && schema->family == "random")
    call.once = "it draws random numbers";
  else if (!isMemoryEffectFree(op))
    call.once = "it has effects";
  std::optional<OpCost> cost = costOf(op);
  int64_t inside = 0;
  if (std::optional<ControlCost> control = controlCostOf(op)) {
    cost = control->cost;
    inside = hints.at(control->calls);
    if (control->reason && !call.once)
      call.once = control->reason;
  }
  // Checks of what is known, and arithmetic on sizes, cost nothing.
  bool isCheap = !schema && (isa<RefineOp>(op) ||
                             llvm::none_of(op->getResultTypes(), [](Type t) {
                               return isa<TensorType>(t);
                             }));
  if (!cost) {
    if (!isCheap && !call.once)
      call.once = "what it costs is not known";
    return;
  }
  call.flops = hints.at(cost->flops);
  // Small calls take as long as it takes to make them: of a loop, all.
  call.weight = static_cast<MinCut::Capacity>(double(inside) * kCallWork);
  int64_t read = hints.at(cost->bytesRead);
  int64_t written = hints.at(cost->bytesWritten);
  switch (cost->recompute) {
  case RecomputeClass::View:
    return;
  case RecomputeClass::Pointwise:
    call.weight += call.flops + written;
    break;
  case RecomputeClass::Reduction:
    // What reads much to give little is not done again.
    call.weight += call.flops + written + read * (kByte / 16);
    break;
  case RecomputeClass::Expensive:
    call.isExpensive = !op->hasAttr(names::kRecompute);
    call.work =
        double(call.flops) + double(std::max<int64_t>(inside, 1)) * kCallWork;
    call.weight += call.flops + written + read * (kByte / 16);
    break;
  case RecomputeClass::Never:
    call.once = call.once ? call.once : "it need not give the same again";
    break;
  }
}

void CutGraph::addCall(const JointGraph &graph, Operation *op) {
  auto number = static_cast<unsigned>(calls.size());
  CutCall call;
  call.op = op;
  call.inForward = graph.isForward(op);
  weigh(call);
  std::optional<OpCost> cost = costOf(op);
  bool isView =
      (cost && cost->recompute == RecomputeClass::View) || isa<RefineOp>(op);
  for (Value result : op->getResults()) {
    CutValue value;
    value.value = result;
    value.call = number;
    value.isView = isView;
    if (std::optional<TensorMeta> meta = metaOf(result))
      value.bytes = hints.bytes(*meta);
    else
      value.notKept = "it is a number";
    if (op->hasAttr(names::kRecompute))
      value.notKept = "ft.recompute forbids it";
    numbers[result] = static_cast<unsigned>(values.size());
    values.push_back(value);
  }
  calls.push_back(call);
  operands.emplace_back();
  for (Value operand : operandsAgain(op))
    operands.back().push_back(numbers.at(operand));
}

LogicalResult markByName(const JointGraph &graph,
                         const PartitionOptions &options) {
  auto mark = [&](ArrayRef<std::string> patterns, StringRef attribute) {
    for (const std::string &text : patterns) {
      auto pattern = llvm::GlobPattern::create(text);
      if (!pattern) {
        llvm::consumeError(pattern.takeError());
        return LogicalResult(emitError(graph.function().getLoc())
                             << "[FT0904] '" << text << "' is no pattern");
      }
      bool isFound = false;
      for (Operation &op : graph.body().without_terminator()) {
        if (graph.isLate(&op) || !schemaOf(&op))
          continue;
        if (llvm::none_of(op.getResults(), [&](Value result) {
              return pattern->match(graph.nameOf(result));
            }))
          continue;
        isFound = true;
        // Views are made again whatever is kept.
        if (attribute == names::kRecompute ||
            recomputeClass(*schemaOf(&op)) != RecomputeClass::View)
          op.setAttr(attribute, UnitAttr::get(op.getContext()));
      }
      if (!isFound)
        return LogicalResult(
            emitError(graph.function().getLoc())
            << "[FT0904] no value of the forward pass is called '" << text
            << "'\nhelp: `foretrace inspect MODEL --stage autograd --training` "
               "lists the names");
    }
    return success();
  };
  if (failed(mark(options.keep, names::kKeep)))
    return failure();
  return mark(options.recompute, names::kRecompute);
}

} // namespace ft
