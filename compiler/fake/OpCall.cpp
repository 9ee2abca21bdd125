//===- OpCall.cpp - An operation as its fake rule sees it ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/OpCall.h"

#include "compiler/fake/ModuleScope.h"
#include "dialects/ft/FtControl.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ft {

std::optional<Dim> constantInteger(Value value) {
  APInt integer;
  if (matchPattern(value, m_ConstantInt(&integer)) &&
      integer.getSignificantBits() <= 64)
    return Dim(value.getType().isInteger(1) ? int64_t(integer.getZExtValue())
                                            : integer.getSExtValue());
  return std::nullopt;
}

std::optional<Dim> annotatedNumber(Value value) {
  if (std::optional<Dim> constant = constantInteger(value))
    return constant;
  StringAttr text;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto function = dyn_cast_or_null<func::FuncOp>(parent))
      return argumentNumber(function, argument.getArgNumber());
    if (Value outside = capturedBy(argument))
      return annotatedNumber(outside);
    if (parent && isControl(parent))
      text = numberOfCarried(parent, argument.getArgNumber());
  } else if (Operation *op = value.getDefiningOp(); isControl(op)) {
    text = numberOfResult(cast<OpResult>(value));
  } else if (op->getNumResults() == 1) {
    text = op->getAttrOfType<StringAttr>(names::kValue);
  }
  if (!text)
    return std::nullopt;
  SymContext &symbols =
      value.getContext()->getOrLoadDialect<FtDialect>()->symbolContext();
  llvm::Expected<SymExpr> parsed = symbols.parse(text.getValue());
  if (parsed)
    return Dim(*parsed);
  llvm::consumeError(parsed.takeError());
  return std::nullopt;
}

OpCall::OpCall(Operation *op)
    : OpCall(
          op, [](Value value) { return value.getType(); }, annotatedNumber) {}

OpCall::OpCall(Operation *op, TypeLookup typeOf, NumberLookup numberOf)
    : aten(AtenCall::decode(op)) {
  read(typeOf, numberOf);
}

void OpCall::readNumbers(Arg &arg, NumberLookup numberOf) {
  if (arg.kind == Arg::List) {
    for (Arg &item : arg.list)
      readNumbers(item, numberOf);
    return;
  }
  if (arg.operand < 0 || !arg.isNumber())
    return;
  Value value = aten.operands[arg.operand];
  if (std::optional<Dim> number = numberOf(value)) {
    arg.dim = *number;
    arg.known = arg.kind == Arg::Int || number->isStatic();
    if (arg.kind == Arg::Bool)
      arg.boolean = number->isStatic() && !number->is(0);
  } else if (arg.kind == Arg::Int) {
    unknown = value;
  } else {
    arg.known = false;
  }
}

void OpCall::read(TypeLookup typeOf, NumberLookup numberOf) {
  for (Value operand : aten.operands) {
    TensorMeta &meta = metas.emplace_back();
    Type type = typeOf(operand);
    if (!isa<TensorType>(type))
      continue;
    if (std::optional<TensorMeta> known = metaFromType(type))
      meta = std::move(*known);
    else if (!unknown)
      unknown = operand;
  }
  for (Arg &arg : aten.args)
    readNumbers(arg, numberOf);
  fake.emplace(*aten.schema, aten.args, metas);
  // The walk that annotates has seen to it that views stay in their storage.
  fake->viewsMore = true;
}

LogicalResult OpCall::run() { return propagateCall(*fake); }

} // namespace ft
