//===- JointRegion.cpp - Forward and backward of a region ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/JointRegion.h"

#include "compiler/autograd/BlockTrace.h"
#include "compiler/autograd/MergeCalls.h"
#include "compiler/fake/OpCall.h"
#include "dialects/ft/FtControl.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ft {

LogicalResult JointRegion::trace(ArrayRef<Type> tangents) {
  primals = body.getNumArguments();
  Operation *yield = body.getTerminator();
  outputs = yield->getNumOperands();
  BlockTrace walk(body, to, activity);
  arrived.resize(outputs);
  for (auto [r, type] : llvm::enumerate(tangents)) {
    if (!type)
      continue;
    Value given = yield->getOperand(static_cast<unsigned>(r));
    arrived[r] = body.addArgument(type, given.getLoc());
    if (activity.needs(given))
      walk.arrive(given, arrived[r]);
  }
  if (failed(walk.run()))
    return failure();
  OpBuilder::InsertionGuard outside(to.builder);
  to.builder.setInsertionPoint(yield);
  SmallVector<Value> all(yield->getOperands());
  SmallVector<unsigned> of;
  for (unsigned i = 0; i < primals; ++i) {
    if (!activity.needs(body.getArgument(i)))
      continue;
    FailureOr<Value> gradient = walk.gradientOf(body.getArgument(i));
    if (failed(gradient))
      return failure();
    if (!*gradient)
      continue;
    of.push_back(i);
    all.push_back(*gradient);
  }
  // The terminator holds them while calls are merged.
  yield->setOperands(all);
  mergeCalls(body);
  results.resize(primals);
  for (auto [k, i] : llvm::enumerate(of))
    results[i] = yield->getOperand(outputs + static_cast<unsigned>(k));
  return success();
}

//===----------------------------------------------------------------------===//
// The cut
//===----------------------------------------------------------------------===//

/// What the yielded values depend on, and operations with effects that do not
/// depend on a tangent.
void JointRegion::collectForward() {
  llvm::DenseSet<Value> late, wanted;
  for (BlockArgument tangent : arrived)
    if (tangent)
      late.insert(tangent);
  llvm::DenseSet<Operation *> behind;
  for (Operation &op : body.without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return late.contains(v); })) {
      behind.insert(&op);
      late.insert(op.result_begin(), op.result_end());
    }
  for (Value v : body.getTerminator()->getOperands().take_front(outputs))
    wanted.insert(v);
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    bool used = llvm::any_of(op.getResults(),
                             [&](Value v) { return wanted.contains(v); });
    if (!used && (isMemoryEffectFree(&op) || behind.contains(&op)))
      continue;
    forward.insert(&op);
    wanted.insert(op.operand_begin(), op.operand_end());
  }
}

void JointRegion::collectInvariants() {
  auto isInvariant = [&](Value v) { return invariant.contains(v); };
  for (BlockArgument argument : body.getArguments().take_front(primals))
    if (captured[argument.getArgNumber()])
      invariant.insert(argument);
  for (Operation &op : body.without_terminator())
    if (schemaOf(&op) && isMemoryEffectFree(&op) && !op.getNumRegions() &&
        llvm::all_of(op.getOperands(), isInvariant))
      invariant.insert(op.result_begin(), op.result_end());
}

/// Views, which cost nothing, and numbers.
bool JointRegion::isRemade(Operation *op, Value value) {
  if (isa<RefineOp>(op))
    return true;
  if (op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  if (!isa<TensorType>(value.getType()) || invariant.contains(value))
    return true;
  const Schema *schema = schemaOf(op);
  if (!schema || schema->returns.empty() || op->getNumOperands() == 0)
    return false;
  unsigned r =
      std::min<unsigned>(cast<OpResult>(value).getResultNumber(),
                         static_cast<unsigned>(schema->returns.size()) - 1);
  std::optional<TensorMeta> whole = metaOf(op->getOperand(0)),
                            part = metaOf(value);
  if (schema->aliasedArg(r) < 0 || !whole || !part)
    return false;
  return isa<BlockArgument>(op->getOperand(0)) ||
         whole->numel() == part->numel();
}

/// Not recursive: what is made again may be a long chain.
void JointRegion::need(Value first) {
  SmallVector<Value> left = {first};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned i = argument.getArgNumber();
      if (i >= primals)
        continue;
      if (kinds[i] == Argument::Kept)
        saved.insert(argument);
      else
        arguments.insert(argument);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (backward.contains(op))
      continue;
    // What cannot leave the region is made again from what can.
    bool again =
        isRemade(op, value) ||
        (!canBeKept(value) && isMemoryEffectFree(op) && !op->getNumRegions());
    if (forward.contains(op) && !again) {
      saved.insert(value);
      continue;
    }
    backward.insert(op);
    left.append(op->operand_begin(), op->operand_end());
  }
}

static void collectSymbols(Dim dim, llvm::StringSet<> &names) {
  if (!dim.isStatic())
    dim.symbolic().collectSymbols(names);
}

/// The symbols of sizes that a region knows from outside are those of its
/// arguments. Others name what the data decide there.
bool JointRegion::canBeKept(Value value) const {
  std::optional<TensorMeta> meta = metaOf(value);
  if (!meta)
    return false;
  llvm::StringSet<> names;
  for (Dim d : meta->sizes)
    collectSymbols(d, names);
  return llvm::all_of(
      names, [&](const auto &name) { return outside.contains(name.getKey()); });
}

LogicalResult JointRegion::checkKept() {
  for (Value value : saved) {
    if (canBeKept(value))
      continue;
    if (std::optional<TensorMeta> meta = metaOf(value))
      call.fail("its backward needs a value of its region whose size the data "
                "decide there: " +
                meta->str());
    else
      call.fail("its backward needs a number that its region computes, which "
                "cannot be kept");
    return failure();
  }
  return success();
}

LogicalResult JointRegion::cut(ArrayRef<Argument> how,
                               ArrayRef<bool> isCaptured) {
  kinds.assign(how.begin(), how.end());
  captured.assign(isCaptured.begin(), isCaptured.end());
  collectForward();
  collectInvariants();
  for (BlockArgument argument : body.getArguments()) {
    if (std::optional<TensorMeta> meta = metaOf(argument))
      for (Dim d : meta->sizes)
        collectSymbols(d, outside);
    else if (capturedBy(argument))
      if (std::optional<Dim> number = annotatedNumber(argument))
        collectSymbols(*number, outside);
  }
  SmallVector<Operation *> own;
  for (Operation &op : body.without_terminator())
    if (!forward.contains(&op)) {
      own.push_back(&op);
      backward.insert(&op);
    }
  for (Operation *op : own)
    for (Value operand : op->getOperands())
      need(operand);
  for (Value gradient : results)
    if (gradient)
      need(gradient);
  return checkKept();
}

void JointRegion::cloneBackward(IRMapping &map) {
  for (Operation &op : body.without_terminator())
    if (backward.contains(&op))
      to.builder.clone(op, map);
}

void JointRegion::finish() {
  Operation *yield = body.getTerminator();
  yield->setOperands(
      SmallVector<Value>(yield->getOperands().take_front(outputs)));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (&op != yield && !forward.contains(&op))
      op.erase();
  body.eraseArguments(primals, body.getNumArguments() - primals);
}

} // namespace ft
