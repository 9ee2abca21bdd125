//===- Activity.cpp - Which values need a gradient -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/Activity.h"

#include "compiler/autograd/DerivativeTable.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/WrittenArguments.h"

using namespace mlir;

namespace ft {

bool isDifferentiable(Value value) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  return tensor && isa<FloatType, ComplexType>(tensor.getElementType());
}

bool passesGradients(Operation *op) {
  if (!isa_and_nonnull<FtDialect>(op->getDialect()) ||
      op->hasAttr(names::kNoGrad))
    return false;
  const Schema *schema = schemaOf(op);
  return !schema || customOp(*schema) ||
         derivativeOf(*schema).kind != Derivative::Constant;
}

bool varies(OpResult result) {
  if (!isDifferentiable(result))
    return false;
  const Schema *schema = schemaOf(result.getOwner());
  unsigned r = result.getResultNumber();
  return !schema || customOp(*schema) || r >= 32 ||
         !(derivativeOf(*schema).constantResults >> r & 1);
}

bool isWrittenInput(func::FuncOp function, unsigned result) {
  auto role = function.getResultAttrOfType<StringAttr>(result, names::kRole);
  return role && role.getValue() == "input_mutation";
}

bool takesTangent(func::FuncOp function, unsigned result) {
  auto role = function.getResultAttrOfType<StringAttr>(result, names::kRole);
  if (!role || role.getValue() == "output" || role.getValue() == "loss")
    return true;
  if (!isWrittenInput(function, result))
    return false;
  BlockArgument input = WrittenArguments(function).of(result);
  return input &&
         function.getArgAttr(input.getArgNumber(), names::kRequiresGrad);
}

//===----------------------------------------------------------------------===//
// What varies
//===----------------------------------------------------------------------===//

/// How many operands, and arguments of the body, are carried.
static unsigned carriedBy(Operation *op) {
  if (auto loop = dyn_cast<WhileOp>(op))
    return static_cast<unsigned>(loop.getInits().size());
  auto scan = dyn_cast<ScanOp>(op);
  return scan ? static_cast<unsigned>(scan.getInits().size()) : 0;
}

/// The regions whose values are results: not the condition of a loop.
static MutableArrayRef<Region> bodiesOf(Operation *op) {
  return isa<WhileOp>(op) ? op->getRegions().drop_front() : op->getRegions();
}

static void markVariedIn(Block &body, llvm::DenseSet<Value> &varied) {
  for (Operation &op : body) {
    if (!passesGradients(&op) || llvm::none_of(op.getOperands(), [&](Value v) {
          return varied.contains(v);
        }))
      continue;
    if (isControl(&op)) {
      markVaried(&op, varied);
      continue;
    }
    for (OpResult result : op.getResults())
      if (varies(result))
        varied.insert(result);
  }
}

void markVaried(Operation *op, llvm::DenseSet<Value> &varied) {
  unsigned carried = carriedBy(op), first = isa<CondOp>(op) ? 1 : 0;
  auto mark = [&](Value value) {
    return isDifferentiable(value) && varied.insert(value).second;
  };
  for (Region &region : bodiesOf(op))
    for (BlockArgument argument : region.getArguments())
      if (varied.contains(op->getOperand(argument.getArgNumber() + first)))
        mark(argument);
  for (bool again = true; again;) {
    again = false;
    for (Region &region : bodiesOf(op)) {
      Block &body = region.front();
      markVariedIn(body, varied);
      for (OpOperand &given : body.getTerminator()->getOpOperands()) {
        unsigned i = given.getOperandNumber();
        if (!varied.contains(given.get()))
          continue;
        mark(op->getResult(i));
        again |= i < carried && mark(body.getArgument(i));
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// What is useful
//===----------------------------------------------------------------------===//

void Activity::markUseful(Block &body) {
  for (Operation &op : llvm::reverse(body)) {
    if (llvm::none_of(op.getResults(), [&](Value v) { return needs(v); }))
      continue;
    if (isControl(&op) && passesGradients(&op))
      markUsefulIn(&op);
    else
      useful.insert(op.operand_begin(), op.operand_end());
  }
}

void Activity::markUsefulIn(Operation *op) {
  unsigned carried = carriedBy(op), first = isa<CondOp>(op) ? 1 : 0;
  // A carried value that an iteration uses is useful to the one before, so it
  // is a result that the loop must be derived by.
  llvm::SmallVector<bool> wanted;
  for (Value result : op->getResults())
    wanted.push_back(needs(result));
  for (bool again = true; again;) {
    again = false;
    for (Region &region : bodiesOf(op)) {
      Block &body = region.front();
      for (OpOperand &given : body.getTerminator()->getOpOperands())
        if (wanted[given.getOperandNumber()])
          useful.insert(given.get());
      markUseful(body);
      for (BlockArgument argument : body.getArguments()) {
        unsigned i = argument.getArgNumber();
        if (!needs(argument))
          continue;
        useful.insert(op->getOperand(i + first));
        if (i < carried && !wanted[i]) {
          wanted[i] = again = true;
          useful.insert(op->getResult(i));
        }
      }
    }
  }
}

Activity::Activity(func::FuncOp function) {
  Block &body = function.front();
  for (BlockArgument argument : body.getArguments())
    if (isDifferentiable(argument) &&
        function.getArgAttr(argument.getArgNumber(), names::kRequiresGrad))
      varied.insert(argument);
  markVariedIn(body, varied);
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    if (takesTangent(function, operand.getOperandNumber()))
      useful.insert(operand.get());
  markUseful(body);
}

bool Activity::isActive(Operation *op) const {
  auto asked = [&](Value v) { return needs(v); };
  return passesGradients(op) && llvm::any_of(op->getResults(), asked) &&
         llvm::any_of(op->getOperands(), asked);
}

} // namespace ft
