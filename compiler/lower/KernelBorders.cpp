//===- KernelBorders.cpp - What crosses the border of a kernel -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/KernelBorders.h"

#include "compiler/lower/ControlGraphs.h"
#include "compiler/lower/KernelGroups.h"
#include "compiler/lower/LowerState.h"
#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

namespace {
class Borders {
public:
  explicit Borders(Schedule &schedule) : s(schedule) {}

  void collect(ScheduledKernel &kernel) {
    DenseSet<Operation *> members(kernel.ops.begin(), kernel.ops.end());
    SetVector<Value> inputs;
    for (Operation *op : kernel.ops) {
      // Gathers read tensors from inside the body too.
      op->walk([&](Operation *inner) {
        for (Value v : inner->getOperands()) {
          if (!isa<RankedTensorType>(v.getType()) || isInside(v, members))
            continue;
          if (isInit(v))
            continue;
          inputs.insert(v);
        }
      });
    }
    kernel.inputs.assign(inputs.begin(), inputs.end());
    collectSymbols(kernel);
    for (Operation *op : kernel.ops)
      for (Value v : op->getResults())
        if (s.placements.count(v) || isReadOutside(v, members) ||
            isa<KernelCallOp, RunGraphsOp>(op))
          kernel.outputs.push_back(v);
  }

private:
  /// Of all sizes that the kernel's code may need: those of its borders, and
  /// what its operations take, also through what is repeated in the kernel.
  void collectSymbols(ScheduledKernel &kernel) {
    llvm::StringSet<> names;
    DenseSet<Operation *> seen;
    auto addSize = [&](Dim d) {
      if (!d.isStatic() && kernel.numbers.insert(d.symbolic()))
        d.symbolic().collectSymbols(names);
    };
    auto add = [&](Value v) { llvm::for_each(s.shapeOf(v), addSize); };
    std::function<void(Operation *)> visit = [&](Operation *op) {
      if (!seen.insert(op).second)
        return;
      if (auto size = dyn_cast<SizeOp>(op)) {
        addSize(size.dim());
        return;
      }
      for (Value v : op->getResults())
        if (isa<RankedTensorType>(v.getType()))
          add(v);
      op->walk([&](Operation *inner) {
        for (Value v : inner->getOperands()) {
          if (isa<RankedTensorType>(v.getType()))
            add(v);
          Operation *def = v.getDefiningOp();
          if (def && def->getBlock() == op->getBlock() &&
              roleOf(def) <= OpRole::View)
            visit(def);
        }
      });
    };
    for (Operation *op : kernel.ops)
      visit(op);
    for (Value v : kernel.inputs)
      llvm::for_each(resolveStrides(v), addSize);
    for (const auto &entry : names)
      kernel.symbols.push_back(entry.getKey().str());
    llvm::sort(kernel.symbols);
  }

  /// The strides of an input; nothing yet for what is only placed later, and
  /// then row-major.
  Dims resolveStrides(Value v) {
    auto it = s.placements.find(v);
    if (it != s.placements.end())
      return it->second.strides;
    Operation *op = v.getDefiningOp();
    if (!op || roleOf(op) != OpRole::View)
      return rowMajorStrides(s.shapeOf(v));
    Placement base;
    base.strides = resolveStrides(op->getOperand(0));
    std::optional<Placement> place = placeView(op, base, s.sizes);
    return place ? place->strides : Dims();
  }

  static bool isReadOutside(Value v, const DenseSet<Operation *> &members) {
    for (Operation *user : v.getUsers()) {
      if (roleOf(user) == OpRole::View) {
        if (isReadOutside(user->getResult(0), members))
          return true;
        continue;
      }
      // A reader in a body stands inside of its generic.
      Operation *top = user;
      while (top->getParentOp() && !isa<func::FuncOp>(top->getParentOp()))
        top = top->getParentOp();
      if (!members.contains(top) && !isa<func::ReturnOp>(top))
        return true;
    }
    return false;
  }

  /// Whether the value is computed, directly or through views, by `kernel`.
  static bool isInside(Value v, const DenseSet<Operation *> &members) {
    Operation *op = v.getDefiningOp();
    while (op && roleOf(op) == OpRole::View)
      op = op->getOperand(0).getDefiningOp();
    return op && members.contains(op);
  }

  Schedule &s;
};
} // namespace

void collectBorders(
    Schedule &schedule,
    ArrayRef<std::pair<Operation *, BlockArgument>> writeBacks) {
  Borders borders(schedule);
  for (ScheduledKernel &kernel : schedule.kernels)
    borders.collect(kernel);
  for (auto &[copy, argument] : writeBacks) {
    Value v = copy->getResult(0);
    schedule.placements[v] = schedule.placements.lookup(argument);
    for (ScheduledKernel &kernel : schedule.kernels)
      if (llvm::is_contained(kernel.ops, copy))
        kernel.outputs.push_back(v);
  }
}

void collectBordersAgain(Schedule &schedule) {
  Borders borders(schedule);
  for (ScheduledKernel &kernel : schedule.kernels) {
    ScheduledKernel fresh;
    fresh.ops = std::move(kernel.ops);
    borders.collect(fresh);
    kernel = std::move(fresh);
  }
}

} // namespace ft
