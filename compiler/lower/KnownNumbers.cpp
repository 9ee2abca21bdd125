//===- KnownNumbers.cpp - Numbers that need no code ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/KnownNumbers.h"

#include "dialects/ft/AtenCall.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

/// The value that the fake pass noted, as a constant of the number's type.
static TypedAttr knownValue(Operation *op) {
  if (op->getNumResults() != 1)
    return {};
  Type type = op->getResult(0).getType();
  auto text = op->getAttrOfType<StringAttr>(names::kValue);
  int64_t value;
  if (!text || !isa<IntegerType>(type) ||
      text.getValue().getAsInteger(10, value))
    return {};
  return IntegerAttr::get(type, value);
}

static void replaceKnown(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    TypedAttr value = schemaOf(&op) ? knownValue(&op) : TypedAttr();
    if (!value)
      continue;
    OpBuilder b(&op);
    op.replaceAllUsesWith(
        ValueRange{arith::ConstantOp::create(b, op.getLoc(), value)});
    op.erase();
  }
}

namespace {
/// One call whose constant operands become arguments.
struct CallFolder {
  AtenCall call;
  SmallVector<Value> kept;

  void fold(Arg &arg) {
    for (Arg &item : arg.list)
      fold(item);
    if (arg.operand < 0)
      return;
    Value operand = call.operands[arg.operand];
    auto constant = operand.getDefiningOp<arith::ConstantOp>();
    if (!arg.isNumber() || !constant) {
      arg.operand = static_cast<int>(kept.size());
      kept.push_back(operand);
      return;
    }
    Attribute value = constant.getValue();
    if (auto real = dyn_cast<FloatAttr>(value))
      arg = Arg::floating(real.getValueAsDouble());
    else if (arg.kind == Arg::Bool)
      arg = Arg::truth(cast<IntegerAttr>(value).getValue().getBoolValue());
    else
      arg = Arg::integer(cast<IntegerAttr>(value).getInt());
  }
};
} // namespace

void foldKnownNumbers(func::FuncOp function) {
  replaceKnown(function);
  for (Operation &op : function.getBody().front()) {
    bool any = llvm::any_of(op.getOperands(), [](Value v) {
      return v.getDefiningOp<arith::ConstantOp>() != nullptr;
    });
    if (!any || !schemaOf(&op))
      continue;
    CallFolder folder{AtenCall::decode(&op), {}};
    for (Arg &arg : folder.call.args)
      folder.fold(arg);
    op.setOperands(folder.kept);
    op.setAttr("args", encodeArgs(op.getContext(), folder.call.args));
  }
}

} // namespace ft
