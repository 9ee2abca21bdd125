//===- ModuleGuards.cpp - What a module asks of sizes ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/ModuleGuards.h"

#include "compiler/fake/ModuleScope.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

using namespace mlir;

namespace ft {

static SymContext &symbolsOf(ModuleOp module) {
  return module.getContext()->getOrLoadDialect<FtDialect>()->symbolContext();
}

ModuleGuards::ModuleGuards(ModuleOp module) : shapes(symbolsOf(module)) {
  SymContext &symbols = shapes.context();
  llvm::StringSet<> inputs;
  if (auto forward = module.lookupSymbol<func::FuncOp>("forward"))
    collectInputSymbols(forward, inputs);
  for (SymbolOp op : module.getOps<SymbolOp>())
    if (inputs.contains(op.getSym()))
      shapes.addInputSize(op.getSym(), inputSymbol(op));
  for (FactOp op : module.getOps<FactOp>()) {
    llvm::Expected<SymExpr> relation = symbols.parse(op.getRelation());
    if (!relation || !relation->isPredicate()) {
      llvm::consumeError(relation.takeError());
      continue;
    }
    Row &row = all.emplace_back();
    row.predicate = *relation;
    row.text = shapes.text(*relation);
    row.cause = op.getCause().value_or("").str();
    row.place = op.getPlace().value_or("").str();
    row.declared = !op.getId();
    if (row.declared) {
      row.id =
          "d" +
          std::to_string(
              llvm::count_if(all, [](const Row &r) { return r.declared; }) - 1);
      shapes.declare(*relation, {row.cause, row.place});
      continue;
    }
    row.id = op.getId()->str();
    row.required = !op.getImpliedBy();
    if (ArrayAttr ids = op.getImpliedByAttr())
      for (StringAttr id : ids.getAsRange<StringAttr>())
        row.impliedBy.push_back(id.getValue().str());
    if (auto others = op->getAttrOfType<ArrayAttr>(names::kInstead))
      for (auto other : others.getAsRange<StringAttr>()) {
        if (llvm::Expected<SymExpr> e = symbols.parse(other.getValue()))
          row.instead.push_back(shapes.text(*e));
        else
          llvm::consumeError(e.takeError());
      }
    shapes.require(*relation, {row.cause, row.place});
  }
}

const ModuleGuards::Row *ModuleGuards::find(llvm::StringRef id) const {
  for (const Row &row : all)
    if (row.id == id)
      return &row;
  return nullptr;
}

} // namespace ft
