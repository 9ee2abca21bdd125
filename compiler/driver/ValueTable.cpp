//===- ValueTable.cpp - The values of a program, for reports ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/ValueTable.h"

#include "compiler/fake/AliasSets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace ft {

mlir::Attribute elementOf(mlir::Attribute attribute, unsigned position) {
  auto array = llvm::dyn_cast_or_null<mlir::ArrayAttr>(attribute);
  if (!array)
    return position == 0 ? attribute : mlir::Attribute();
  return position < array.size() ? array[position] : mlir::Attribute();
}

static std::string textOf(mlir::Attribute attribute) {
  auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(attribute);
  return text ? text.getValue().str() : std::string();
}

/// Fills in the annotation, or what the archive declares in its place.
static void setMeta(ValueRow &row, mlir::Attribute declared) {
  row.meta = metaFromType(row.value.getType());
  if (row.meta)
    return;
  if (auto type = llvm::dyn_cast_or_null<mlir::TypeAttr>(declared)) {
    row.meta = metaFromType(type.getValue());
    row.declaredOnly = row.meta.has_value();
  }
}

ValueTable::ValueTable(mlir::ModuleOp module, bool annotated) {
  module.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (op == module.getOperation())
      return;
    if (!llvm::isa<mlir::FunctionOpInterface>(op))
      addResults(op);
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        addArguments(block, op);
  });
  if (!annotated)
    return;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    AliasSets sets(function);
    for (ValueRow &row : rows)
      if (int storage = sets.storage(row.value); storage >= 0)
        row.storage = storage;
  }
}

ValueRow &ValueTable::add(mlir::Value value, std::string name) {
  if (name.empty())
    name = "v" + std::to_string(rows.size());
  index[value] = static_cast<unsigned>(rows.size());
  ValueRow &row = rows.emplace_back();
  row.value = value;
  row.name = std::move(name);
  return row;
}

void ValueTable::addArguments(mlir::Block &block, mlir::Operation *owner) {
  auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(owner);
  for (mlir::BlockArgument argument : block.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto attribute = [&](llvm::StringRef name) {
      return function ? function.getArgAttr(i, name) : mlir::Attribute();
    };
    ValueRow &row = add(argument, textOf(attribute(names::kName)));
    row.op = textOf(attribute(names::kKind));
    if (row.op.empty())
      row.op = "argument";
    row.target = textOf(attribute(names::kTarget));
    row.requiresGrad = attribute(names::kRequiresGrad) != nullptr;
    setMeta(row, attribute(names::kDeclared));
  }
}

void ValueTable::addResults(mlir::Operation *op) {
  if (op->getNumResults() == 0)
    return;
  const Schema *schema = schemaOf(op);
  bool anyGrad = false;
  for (mlir::Value operand : op->getOperands())
    if (int i = indexOf(operand); i >= 0)
      anyGrad |= rows[i].requiresGrad;
  for (mlir::OpResult result : op->getResults()) {
    unsigned r = result.getResultNumber();
    ValueRow &row =
        add(result, textOf(elementOf(op->getAttr(names::kName), r)));
    row.op = schema ? "aten." + schema->name.str()
                    : op->getName().getStringRef().str();
    setMeta(row, elementOf(op->getAttr(names::kDeclared), r));
    bool differentiable =
        row.meta && (isFloating(row.meta->dtype) || isComplex(row.meta->dtype));
    row.requiresGrad =
        anyGrad && differentiable && !(schema && schema->base == "detach");
  }
}

} // namespace ft
