//===- Activity.cpp - Which values need a gradient -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/autograd/Activity.h"

#include "compiler/autograd/DerivativeTable.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtDialect.h"

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

bool takesTangent(func::FuncOp function, unsigned result) {
  auto role = function.getResultAttrOfType<StringAttr>(result, names::kRole);
  return !role || role.getValue() == "output" || role.getValue() == "loss" ||
         role.getValue() == "input_mutation";
}

Activity::Activity(func::FuncOp function) {
  Block &body = function.front();
  for (BlockArgument argument : body.getArguments())
    if (isDifferentiable(argument) &&
        function.getArgAttr(argument.getArgNumber(), names::kRequiresGrad))
      varied.insert(argument);
  for (Operation &op : body) {
    if (!passesGradients(&op) ||
        llvm::none_of(op.getOperands(), [&](Value v) { return varies(v); }))
      continue;
    for (OpResult result : op.getResults())
      if (ft::varies(result))
        varied.insert(result);
  }
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    if (takesTangent(function, operand.getOperandNumber()))
      useful.insert(operand.get());
  for (Operation &op : llvm::reverse(body))
    if (llvm::any_of(op.getResults(), [&](Value v) { return needs(v); }))
      useful.insert(op.operand_begin(), op.operand_end());
}

bool Activity::isActive(Operation *op) const {
  auto asked = [&](Value v) { return needs(v); };
  return passesGradients(op) && llvm::any_of(op->getResults(), asked) &&
         llvm::any_of(op->getOperands(), asked);
}

} // namespace ft
