//===- AliasSets.cpp - Which values share storage --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a result is a view can depend on the layout (`reshape`, `contiguous`,
// `to`), so the ops' fake rules are asked, not their schemas alone.

#include "compiler/fake/AliasSets.h"

#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/OpCall.h"
#include "dialects/ft/FtControl.h"

using namespace mlir;

namespace ft {

int AliasSets::fresh() {
  sets.emplace_back();
  return static_cast<int>(sets.size()) - 1;
}

void AliasSets::add(Value value, int storage) {
  ids[value] = storage;
  sets[storage].push_back(value);
}

int AliasSets::storage(Value value) const {
  auto it = ids.find(value);
  return it == ids.end() ? -1 : it->second;
}

/// Where the rule cannot be asked: the operand that the schema names.
static int viewBySchema(const AtenCall &call, unsigned result) {
  if (result >= call.schema->returns.size())
    return -1;
  int arg = call.schema->aliasedArg(result);
  return arg < 0 || call.args[arg].kind != Arg::Tensor ? -1
                                                       : call.args[arg].operand;
}

AliasSets::AliasSets(func::FuncOp function) {
  std::optional<ModuleScope> known;
  if (auto module = function->getParentOfType<ModuleOp>()) {
    known.emplace(module, function, ModuleScope::Use::Keep);
    scope = &known->scope();
  }
  llvm::DenseMap<Attribute, int> records;
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<TensorType>(argument.getType()))
      continue;
    Attribute record =
        function.getArgAttr(argument.getArgNumber(), names::kWeight);
    auto known = record ? records.find(record) : records.end();
    int id = known != records.end() ? known->second : fresh();
    if (record)
      records[record] = id;
    add(argument, id);
  }
  visit(function.front(), /*inner=*/true);
  scope = nullptr;
}

AliasSets::AliasSets(Region &region) {
  for (BlockArgument argument : region.getArguments())
    if (isa<TensorType>(argument.getType()))
      add(argument, fresh());
  visit(region.front(), /*inner=*/false);
}

void AliasSets::visit(Block &block, bool inner) {
  for (Operation &op : block) {
    if (schemaOf(&op)) {
      visitCall(&op);
      continue;
    }
    // A region's arguments are the operands, or change while it runs; what it
    // yields is no view of them (checkRegionStorages), so results are fresh.
    for (Region &region : inner ? op.getRegions() : MutableArrayRef<Region>())
      for (Block &inside : region) {
        for (BlockArgument argument : inside.getArguments())
          if (isa<TensorType>(argument.getType())) {
            Value shown = capturedBy(argument);
            int id = shown ? storage(shown) : -1;
            add(argument, id < 0 ? fresh() : id);
          }
        visit(inside, inner);
      }
    auto refine = dyn_cast<RefineOp>(op);
    for (Value result : op.getResults())
      if (isa<TensorType>(result.getType())) {
        int id = refine ? storage(refine.getInput()) : -1;
        if (id >= 0)
          bases[result] = refine.getInput();
        add(result, id < 0 ? fresh() : id);
      }
  }
}

void AliasSets::visitCall(Operation *op) {
  auto typeOf = [&](Value value) {
    Type now = changed.lookup(value);
    return now ? now : value.getType();
  };
  OpCall call(op, typeOf, annotatedNumber);
  if (scope && call.fake)
    call.fake->scope = scope;
  bool known = !call.unknown && succeeded(call.run());
  for (OpResult result : op->getResults()) {
    if (!isa<TensorType>(result.getType()))
      continue;
    unsigned r = result.getResultNumber();
    int operand = known && r < call.fake->results.size()
                      ? call.fake->results[r].alias
                      : viewBySchema(call.aten, r);
    if (operand < 0) {
      add(result, fresh());
      continue;
    }
    Value base = call.aten.operands[operand];
    if (call.aten.schema->returnsWritten(r) && typeOf(base) != result.getType())
      changed[base] = result.getType();
    bases[result] = base;
    int id = storage(base);
    add(result, id < 0 ? fresh() : id);
  }
}

} // namespace ft
