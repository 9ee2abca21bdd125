//===- CallAgain.cpp - A call as backward does it again --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/CallAgain.h"

#include "dialects/ft/AtenCall.h"
#include "dialects/ft/FtDialect.h"

using namespace mlir;

namespace ft {

/// The statistics of the batch alone; nothing for other calls.
static std::optional<AtenCall> withoutRunning(Operation *op) {
  const Schema *schema = schemaOf(op);
  if (!schema || schema->name != "_native_batch_norm_legit_functional.default")
    return std::nullopt;
  AtenCall call = AtenCall::decode(op);
  if (!call.arg("training").boolean)
    return std::nullopt;
  for (unsigned r = 3; r < op->getNumResults(); ++r)
    for (Operation *user : op->getResult(r).getUsers())
      if (!user->hasTrait<OpTrait::IsTerminator>())
        return std::nullopt;
  AtenCall again;
  again.schema = SchemaTable::get().find("_native_batch_norm_legit.no_stats");
  for (const SchemaArg &parameter : again.schema->args) {
    Arg arg = call.arg(parameter.name);
    if (arg.kind == Arg::Tensor) {
      again.operands.push_back(call.operands[arg.operand]);
      arg = Arg::tensor(static_cast<int>(again.operands.size()) - 1);
    }
    again.args.push_back(std::move(arg));
  }
  return again;
}

SmallVector<Value, 4> operandsAgain(Operation *op) {
  if (std::optional<AtenCall> call = withoutRunning(op))
    return call->operands;
  return {op->operand_begin(), op->operand_end()};
}

Operation *cloneAgain(OpBuilder &b, Operation *op, IRMapping &map) {
  std::optional<AtenCall> call = withoutRunning(op);
  if (!call)
    return b.clone(*op, map);
  for (Value &operand : call->operands)
    operand = map.lookup(operand);
  Operation *again =
      call->build(b, op->getLoc(), op->getResults().take_front(3).getTypes());
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    again->setDiscardableAttr(attribute.getName(), attribute.getValue());
  for (unsigned r = 0; r < 3; ++r)
    map.map(op->getResult(r), again->getResult(r));
  return again;
}

} // namespace ft
