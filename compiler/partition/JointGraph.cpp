//===- JointGraph.cpp - What of a joint graph may run when -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/JointGraph.h"

#include "compiler/autograd/Autograd.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/WrittenArguments.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ft {

JointGraph::JointGraph(func::FuncOp function) : joint(function) {
  llvm::DenseSet<Value> wanted, tangents;
  for (BlockArgument argument : body().getArguments())
    if (kindOf(argument) == "tangent")
      tangents.insert(argument);
  // What depends on a tangent stays out of forward even with effects.
  auto isOfTangent = [&](Value v) { return tangents.contains(v); };
  for (Operation &op : body().without_terminator())
    if (op.hasAttr(kOfBackward) ||
        llvm::any_of(op.getOperands(), isOfTangent)) {
      late.insert(&op);
      tangents.insert(op.result_begin(), op.result_end());
    }
  WrittenArguments writes(joint);
  for (OpOperand &operand : terminator()->getOpOperands()) {
    unsigned r = operand.getOperandNumber();
    if (roleOf(r).ends_with("_mutation") && isOfTangent(operand.get()))
      lateResults.insert(r);
    if (isOfBackward(r))
      continue;
    wanted.insert(operand.get());
    if (BlockArgument argument = writes.of(r))
      written.insert(argument);
  }
  for (Operation &op : llvm::reverse(body().without_terminator())) {
    bool isUsed = llvm::any_of(op.getResults(),
                               [&](Value v) { return wanted.contains(v); });
    if (!isUsed && (isMemoryEffectFree(&op) || isLate(&op)))
      continue;
    forward.insert(&op);
    wanted.insert(op.operand_begin(), op.operand_end());
  }

  llvm::DenseSet<Value> seen;
  auto need = [&](Value value) {
    if (!isOfTangent(value) && seen.insert(value).second)
      needed.push_back(value);
  };
  for (Operation &op : body().without_terminator())
    if (isLate(&op))
      llvm::for_each(op.getOperands(), need);
  for (OpOperand &operand : terminator()->getOpOperands())
    if (isOfBackward(operand.getOperandNumber()))
      need(operand.get());
}

StringRef JointGraph::kindOf(BlockArgument argument) const {
  auto kind = function().getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      names::kKind);
  return kind ? kind.getValue() : StringRef("input");
}

StringRef JointGraph::roleOf(unsigned result) const {
  auto role = function().getResultAttrOfType<StringAttr>(result, names::kRole);
  return role ? role.getValue() : StringRef("output");
}

std::string JointGraph::nameOf(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto name = function().getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        names::kName);
    return name ? name.getValue().str() : "";
  }
  Operation *op = value.getDefiningOp();
  unsigned r = cast<OpResult>(value).getResultNumber();
  Attribute name = op->getAttr(names::kName);
  if (auto one = dyn_cast_or_null<StringAttr>(name))
    return op->getNumResults() == 1
               ? one.getValue().str()
               : one.getValue().str() + "_" + std::to_string(r);
  if (auto many = dyn_cast_or_null<ArrayAttr>(name))
    if (r < many.size())
      if (auto one = dyn_cast<StringAttr>(many[r]))
        return one.getValue().str();
  const Schema *schema = schemaOf(op);
  StringRef call = schema ? schema->base : op->getName().stripDialect();
  return op->getNumResults() == 1 ? call.str()
                                  : call.str() + "_" + std::to_string(r);
}

} // namespace ft
