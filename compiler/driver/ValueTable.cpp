//===- ValueTable.cpp - The values of a program, for reports ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/ValueTable.h"

#include "compiler/fake/AliasSets.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtControl.h"

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
  for (mlir::Operation &op : *module.getBody()) {
    if (!llvm::isa<mlir::FunctionOpInterface>(op))
      addResults(&op);
    for (mlir::Region &region : op.getRegions())
      for (mlir::Block &block : region)
        addBlock(block, &op, "");
  }
  if (!annotated)
    return;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    AliasSets sets(function);
    for (ValueRow &row : rows)
      if (int storage = sets.storage(row.value); storage >= 0)
        row.storage = storage;
  }
}

/// What the archive says of a region: {name = "…", arguments = ["…", …]}.
static mlir::DictionaryAttr graphOf(mlir::Region &region) {
  return llvm::dyn_cast_or_null<mlir::DictionaryAttr>(elementOf(
      region.getParentOp()->getAttr(names::kGraphs), region.getRegionNumber()));
}

static std::string graphName(mlir::Region &region) {
  mlir::DictionaryAttr graph = graphOf(region);
  std::string name = graph ? textOf(graph.get("name")) : std::string();
  return name.empty() ? "region" + std::to_string(region.getRegionNumber())
                      : name;
}

/// The arguments, then each operation with what is in its regions.
void ValueTable::addBlock(mlir::Block &block, mlir::Operation *owner,
                          const std::string &path) {
  graph = path;
  addArguments(block, owner);
  for (mlir::Operation &op : block) {
    graph = path;
    addResults(&op);
    if (!isControl(&op))
      continue;
    for (mlir::Region &region : op.getRegions())
      for (mlir::Block &inside : region)
        addBlock(inside, &op,
                 path + (path.empty() ? "" : ".") + graphName(region));
  }
}

ValueRow &ValueTable::add(mlir::Value value, std::string name) {
  if (name.empty())
    name = "v" + std::to_string(rows.size());
  index[value] = static_cast<unsigned>(rows.size());
  ValueRow &row = rows.emplace_back();
  row.value = value;
  row.graph = graph;
  row.name = std::move(name);
  return row;
}

void ValueTable::addArguments(mlir::Block &block, mlir::Operation *owner) {
  auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(owner);
  for (mlir::BlockArgument argument : block.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto attribute = [&](llvm::StringRef name) -> mlir::Attribute {
      if (function)
        return function.getArgAttr(i, name);
      mlir::DictionaryAttr inside = graphOf(*block.getParent());
      return name == names::kName && inside
                 ? elementOf(inside.get("arguments"), i)
                 : mlir::Attribute();
    };
    ValueRow &row = add(argument, textOf(attribute(names::kName)));
    row.op = textOf(attribute(names::kKind));
    if (row.op.empty())
      row.op = "argument";
    row.target = textOf(attribute(names::kTarget));
    row.requiresGrad = attribute(names::kRequiresGrad) != nullptr;
    if (int shown = indexOf(capturedBy(argument)); shown >= 0)
      row.requiresGrad = rows[shown].requiresGrad;
    setMeta(row, attribute(names::kDeclared));
  }
}

/// Whether results require a gradient if an operand does, as PyTorch has it:
/// also where the derivative is zero (`sign`), not where only the shape of the
/// operand is read.
static bool passesRequirement(mlir::Operation *op, const Schema *schema) {
  if (op->hasAttr(names::kNoGrad))
    return false;
  llvm::StringRef base = schema ? schema->base : "";
  return base != "detach" && !base.ends_with("_like") &&
         !base.starts_with("new_");
}

void ValueTable::addResults(mlir::Operation *op) {
  if (op->getNumResults() == 0)
    return;
  const Schema *schema = schemaOf(op);
  bool anyGrad = false;
  if (passesRequirement(op, schema))
    for (mlir::Value operand : op->getOperands())
      if (int i = indexOf(operand); i >= 0)
        anyGrad |= rows[i].requiresGrad;
  for (mlir::OpResult result : op->getResults()) {
    unsigned r = result.getResultNumber();
    ValueRow &row =
        add(result, textOf(elementOf(op->getAttr(names::kName), r)));
    row.op = schema ? shownName(*schema) : op->getName().getStringRef().str();
    setMeta(row, elementOf(op->getAttr(names::kDeclared), r));
    bool differentiable =
        row.meta && (isFloating(row.meta->dtype) || isComplex(row.meta->dtype));
    row.requiresGrad = anyGrad && differentiable;
  }
}

} // namespace ft
