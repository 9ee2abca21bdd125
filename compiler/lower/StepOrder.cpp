//===- StepOrder.cpp - Steps in the order of least memory ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/StepOrder.h"

#include "compiler/lower/MemoryRoom.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ft {

/// What a value takes in the arena, and whether backward reads it.
static OrderProblem::Value valueOf(Schedule &s, Value root) {
  auto it = s.placements.find(root);
  bool placed = it != s.placements.end();
  if ((placed && it->second.region != Region::Arena) || isFound(root) ||
      (!placed && isa<BlockArgument>(root)))
    return {};
  auto type = cast<RankedTensorType>(root.getType());
  Dim bytes = tensorBytes(s.shapeOf(root), type.getElementType());
  return {s.isTold(bytes) ? MemoryPlan::aligned(s.atHints(bytes)) : 0,
          placed && !isa<BlockArgument>(root)};
}

StepProblem problemOf(Schedule &s) {
  StepProblem result;
  OrderProblem &problem = result.problem;
  auto number = [&](Value v) {
    Value root = MemoryRoom::rootOf(v);
    auto [it, isNew] = result.numbers.try_emplace(
        root, static_cast<unsigned>(result.roots.size()));
    if (isNew) {
      result.roots.push_back(root);
      problem.values.push_back(valueOf(s, root));
    }
    return it->second;
  };
  for (const ScheduleStep &what : s.steps) {
    OrderProblem::Step step;
    auto add = [&](SmallVectorImpl<unsigned> &list, Value v) {
      unsigned n = number(v);
      if (!llvm::is_contained(list, n))
        list.push_back(n);
    };
    if (what.check) {
      step.isBarrier = true;
      for (Value v : what.check->getOperands())
        if (isa<TensorType>(v.getType()))
          add(step.reads, v);
    } else {
      ScheduledKernel &kernel = s.kernels[what.kernel];
      for (Value v : kernel.inputs)
        add(step.reads, v);
      for (Value v : kernel.outputs) {
        add(step.writes, v);
        auto it = s.placements.find(v);
        step.isBarrier |=
            it != s.placements.end() && (it->second.region == Region::Input ||
                                         it->second.region == Region::State);
      }
      step.isBarrier |= !llvm::all_of(
          kernel.ops, [](Operation *op) { return isMemoryEffectFree(op); });
    }
    problem.steps.push_back(std::move(step));
  }
  return result;
}

void reorderSteps(Schedule &s) {
  std::vector<ScheduleStep> ordered;
  for (unsigned step : orderForPeak(problemOf(s).problem))
    ordered.push_back(s.steps[step]);
  s.steps = std::move(ordered);
}

} // namespace ft
