//===- RepeatKernels.cpp - Kernels that run again for less memory ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/RepeatKernels.h"

#include "compiler/lower/InPlace.h"
#include "compiler/lower/KernelBorders.h"
#include "compiler/lower/KernelGroups.h"
#include "compiler/lower/LowerState.h"
#include "compiler/lower/MemoryRoom.h"
#include "compiler/lower/RepeatPlan.h"
#include "compiler/lower/StepOrder.h"
#include "compiler/partition/PartitionNames.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ft {

namespace {
/// Of a kernel on one core, in seconds: only comparisons matter.
constexpr double kPerOperation = 1 / 50e9, kPerByte = 1 / 10e9,
                 kPerKernel = 1e-6;

class Repeater {
public:
  Repeater(Schedule &schedule, bool products)
      : s(schedule), withProducts(products), steps(problemOf(schedule)) {}

  void run(int64_t bytes);

private:
  /// What of a kernel makes one value.
  struct Slice {
    SmallVector<Operation *, 4> ops;
    llvm::SmallSetVector<unsigned, 4> reads;
  };

  std::optional<Slice> sliceOf(unsigned value, const ScheduledKernel &kernel);
  double costOf(const Slice &slice);
  bool isWrittenBack(Value root);
  void findRecipes(RepeatProblem &problem);
  void findTies(RepeatProblem &problem);
  Value now(Value operand, IRMapping &mapping);
  void noteRepeated(Operation *op, size_t before);
  void repeat(unsigned value, ScheduledKernel &kernel);
  void readNow(ScheduledKernel &kernel);
  void removeUnused();

  Schedule &s;
  bool withProducts;
  StepProblem steps;
  std::vector<Slice> slices;
  /// What kernels write to memory that has a place already.
  SmallVector<Value> written;
  /// By number: what was made of the value last, if that is not the first.
  DenseMap<unsigned, Value> latest;
  /// Views of what was made again, by the view and what it is of.
  DenseMap<std::pair<Operation *, Value>, Value> views;
};
} // namespace

/// All operands, those that bodies read from outside too.
static void eachTensor(Operation *op, function_ref<void(OpOperand &)> visit) {
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        visit(operand);
  });
}

/// Nothing if the value cannot be computed again.
std::optional<Repeater::Slice>
Repeater::sliceOf(unsigned value, const ScheduledKernel &kernel) {
  Operation *maker = steps.roots[value].getDefiningOp();
  DenseSet<Operation *> members(kernel.ops.begin(), kernel.ops.end());
  DenseSet<Operation *> wanted = {maker};
  Slice slice;
  bool isWritten = false;
  for (Operation *op : llvm::reverse(kernel.ops)) {
    if (!wanted.contains(op))
      continue;
    OpRole role = roleOf(op);
    if (!op->hasAttr(names::kAgain) || !isMemoryEffectFree(op) ||
        role == OpRole::Library || role == OpRole::Entry ||
        (role == OpRole::Contraction && !withProducts))
      return std::nullopt;
    slice.ops.push_back(op);
    eachTensor(op, [&](OpOperand &operand) {
      if (isInit(operand.get()) ||
          op->isAncestor(operand.get().getParentBlock()->getParentOp()))
        return;
      Value root = MemoryRoom::rootOf(operand.get());
      if (members.contains(root.getDefiningOp()))
        wanted.insert(root.getDefiningOp());
      else if (auto it = steps.numbers.find(root); it != steps.numbers.end())
        slice.reads.insert(it->second);
      isWritten |= isWrittenBack(root);
    });
  }
  if (isWritten)
    return std::nullopt;
  std::reverse(slice.ops.begin(), slice.ops.end());
  return slice;
}

/// What it was is gone when the kernel has run that writes it.
bool Repeater::isWrittenBack(Value root) {
  return llvm::any_of(
      written, [&](Value output) { return s.isSameMemory(root, output); });
}

double Repeater::costOf(const Slice &slice) {
  double seconds = kPerKernel;
  auto bytesOf = [&](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    return double(s.atHints(tensorBytes(s.shapeOf(v), type.getElementType())));
  };
  for (Operation *op : slice.ops) {
    double operations = 0;
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      operations = double(generic.getBody()->getOperations().size());
      for (Dim steps : s.sizes.loops(generic))
        operations *= double(s.atHints(steps));
    }
    seconds += operations * kPerOperation;
  }
  seconds += bytesOf(slice.ops.back()->getResult(0)) * kPerByte;
  for (unsigned v : slice.reads)
    seconds += bytesOf(steps.roots[v]) * kPerByte;
  return seconds;
}

void Repeater::findRecipes(RepeatProblem &problem) {
  problem.recipes.resize(steps.roots.size());
  slices.resize(steps.roots.size());
  // Checks go on reading what they read.
  DenseSet<unsigned> checked;
  for (auto [step, what] : llvm::zip(steps.problem.steps, s.steps))
    if (what.check)
      checked.insert_range(step.reads);
  for (const ScheduledKernel &kernel : s.kernels)
    for (Value output : kernel.outputs)
      if (s.placements.contains(output))
        written.push_back(output);
  for (const ScheduleStep &step : s.steps) {
    if (step.check)
      continue;
    const ScheduledKernel &kernel = s.kernels[step.kernel];
    for (Value output : kernel.outputs) {
      auto it = steps.numbers.find(output);
      if (it == steps.numbers.end() || s.placements.count(output) ||
          steps.problem.values[it->second].bytes == 0 ||
          checked.contains(it->second))
        continue;
      if (std::optional<Slice> slice = sliceOf(it->second, kernel)) {
        Recipe recipe;
        recipe.reads.assign(slice->reads.begin(), slice->reads.end());
        recipe.cost = costOf(*slice);
        problem.recipes[it->second] = std::move(recipe);
        slices[it->second] = std::move(*slice);
      }
    }
  }
}

/// Where a step may work in place (TieBuffers.h).
void Repeater::findTies(RepeatProblem &problem) {
  problem.inPlace.resize(s.steps.size());
  for (auto [what, ties] : llvm::zip(s.steps, problem.inPlace)) {
    if (what.check || s.kernels[what.kernel].outputs.size() != 1)
      continue;
    const ScheduledKernel &kernel = s.kernels[what.kernel];
    Value out = kernel.outputs.front();
    if (s.placements.count(out))
      continue;
    for (Value v : kernel.inputs) {
      unsigned root = steps.numbers.lookup(MemoryRoom::rootOf(v));
      bool isAlone =
          llvm::count_if(kernel.inputs, [&](Value other) {
            return steps.numbers.lookup(MemoryRoom::rootOf(other)) == root;
          }) == 1;
      if (steps.roots[root] == v && steps.problem.values[root].bytes > 0 &&
          v.getType() == out.getType() && s.shapeOf(v) == s.shapeOf(out) &&
          isAlone && isReadAsWritten(kernel.ops, v, out))
        ties.push_back(root);
    }
  }
}

/// What an operand is at this point of the schedule.
Value Repeater::now(Value operand, IRMapping &mapping) {
  if (Value mapped = mapping.lookupOrNull(operand))
    return mapped;
  Operation *op = operand.getDefiningOp();
  if (op && roleOf(op) == OpRole::View && !isInit(operand)) {
    Value base = now(op->getOperand(0), mapping);
    if (base == op->getOperand(0))
      return operand;
    Value &view = views[{op, base}];
    if (!view) {
      OpBuilder b(op->getContext());
      Operation *maker = base.getDefiningOp();
      b.setInsertionPointAfter(maker->isBeforeInBlock(op) ? op : maker);
      IRMapping source;
      source.map(op->getOperand(0), base);
      view = b.clone(*op, source)->getResult(0);
    }
    return view;
  }
  auto it = steps.numbers.find(operand);
  Value last = it == steps.numbers.end() ? Value() : latest.lookup(it->second);
  return last ? last : operand;
}

/// Each call of a kernel once; the kernel's start at `before`.
void Repeater::noteRepeated(Operation *op, size_t before) {
  auto attribute = op->getAttrOfType<StringAttr>(names::kFrom);
  StringRef from = attribute ? attribute.getValue() : StringRef();
  bool isProduct = roleOf(op) == OpRole::Contraction;
  for (size_t i = before; i < s.repeated.size(); ++i)
    if (s.repeated[i].location == op->getLoc() && s.repeated[i].from == from) {
      s.repeated[i].isProduct |= isProduct;
      return;
    }
  s.repeated.push_back({op->getLoc(), from.str(), isProduct});
}

/// A kernel that makes the value once more. It stands right behind the first
/// one, so that it dominates whatever reads it.
void Repeater::repeat(unsigned value, ScheduledKernel &kernel) {
  const Slice &slice = slices[value];
  OpBuilder b(slice.ops.back()->getContext());
  b.setInsertionPointAfter(slice.ops.back());
  IRMapping mapping;
  size_t before = s.repeated.size();
  for (Operation *op : slice.ops) {
    eachTensor(op, [&](OpOperand &operand) {
      Value v = operand.get();
      if (isInit(v) || op->isAncestor(v.getParentBlock()->getParentOp()))
        return;
      if (Value known = now(v, mapping); known != v)
        mapping.map(v, known);
    });
    Operation *copy = b.clone(*op, mapping);
    kernel.ops.push_back(copy);
    noteRepeated(op, before);
  }
  Value root = steps.roots[value];
  latest[value] = mapping.lookup(root);
}

void Repeater::readNow(ScheduledKernel &kernel) {
  IRMapping mapping;
  for (Operation *op : kernel.ops)
    for (Value result : op->getResults())
      mapping.map(result, result);
  for (Operation *op : kernel.ops)
    eachTensor(op, [&](OpOperand &operand) {
      Value v = operand.get();
      if (!isInit(v) && !op->isAncestor(v.getParentBlock()->getParentOp()))
        operand.set(now(v, mapping));
    });
}

/// What nobody reads any more would count as a reader.
void Repeater::removeUnused() {
  DenseSet<Operation *> gone;
  Block *block = nullptr;
  for (const Slice &slice : slices)
    if (!slice.ops.empty())
      block = slice.ops.front()->getBlock();
  if (!block)
    return;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block))) {
    bool isOurs = op.hasAttr(names::kAgain) || roleOf(&op) == OpRole::View;
    bool isPlaced = llvm::any_of(
        op.getResults(), [&](Value v) { return s.placements.count(v) > 0; });
    if (!isOurs || isPlaced || !op.use_empty() || !isMemoryEffectFree(&op))
      continue;
    gone.insert(&op);
    s.sizes.forget(&op);
    op.erase();
  }
  for (ScheduledKernel &kernel : s.kernels)
    llvm::erase_if(kernel.ops,
                   [&](Operation *op) { return gone.contains(op); });
}

void Repeater::run(int64_t bytes) {
  RepeatProblem problem;
  findRecipes(problem);
  problem.order = steps.problem;
  findTies(problem);
  std::vector<PlayedStep> play = planRepeats(problem, bytes);
  if (llvm::none_of(play, [](const PlayedStep &p) { return p.step < 0; }))
    return;
  std::vector<ScheduledKernel> kernels;
  std::vector<ScheduleStep> ordered;
  std::vector<std::pair<unsigned, DenseMap<unsigned, Value>>> readers;
  // All copies are made of operations that read what they first read.
  for (const PlayedStep &played : play) {
    if (played.step >= 0 && s.steps[played.step].check) {
      ordered.push_back(s.steps[played.step]);
      continue;
    }
    ScheduledKernel kernel;
    if (played.step < 0) {
      repeat(played.value, kernel);
    } else {
      kernel = s.kernels[s.steps[played.step].kernel];
      const OrderProblem::Step &step = problem.order.steps[played.step];
      for (unsigned v : step.writes)
        latest.erase(v);
      DenseMap<unsigned, Value> reads;
      for (unsigned v : step.reads)
        if (Value last = latest.lookup(v))
          reads[v] = last;
      if (!reads.empty())
        readers.emplace_back(static_cast<unsigned>(kernels.size()),
                             std::move(reads));
    }
    ordered.push_back({static_cast<int>(kernels.size()), nullptr});
    kernels.push_back(std::move(kernel));
  }
  s.kernels = std::move(kernels);
  s.steps = std::move(ordered);
  for (auto &[kernel, known] : readers) {
    latest = std::move(known);
    readNow(s.kernels[kernel]);
  }
  removeUnused();
  collectBordersAgain(s);
}

void repeatKernels(Schedule &schedule, int64_t bytes, bool withProducts) {
  Repeater(schedule, withProducts).run(bytes);
}

} // namespace ft
