//===- ModuleScope.cpp - The symbols and facts of a module -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/ModuleScope.h"

#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace ft {

static SymContext &symbolsOf(ModuleOp module) {
  return module.getContext()->getOrLoadDialect<FtDialect>()->symbolContext();
}

std::optional<Dim> argumentNumber(func::FuncOp function, unsigned argument) {
  auto text = function.getArgAttrOfType<StringAttr>(argument, names::kValue);
  if (!text)
    return std::nullopt;
  SymContext &symbols =
      function.getContext()->getOrLoadDialect<FtDialect>()->symbolContext();
  llvm::Expected<SymExpr> parsed = symbols.parse(text.getValue());
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return std::nullopt;
  }
  return parsed->isPredicate() ? std::nullopt : std::optional(Dim(*parsed));
}

static void addSymbols(Dim d, llvm::StringSet<> &names) {
  if (!d.isStatic())
    d.symbolic().collectSymbols(names);
}

static void addSymbols(Type type, llvm::StringSet<> &names) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto meta =
      tensor ? dyn_cast_or_null<MetaAttr>(tensor.getEncoding()) : MetaAttr();
  if (!meta)
    return;
  for (Dim d : meta.getSizes())
    addSymbols(d, names);
  for (Dim d : meta.getStrides())
    addSymbols(d, names);
  addSymbols(meta.getOffset(), names);
}

/// The names of all symbols that a function's arguments have.
static void collectInputs(func::FuncOp function, llvm::StringSet<> &found) {
  for (BlockArgument argument : function.getArguments()) {
    Type type = argument.getType();
    unsigned i = argument.getArgNumber();
    if (!isa<TensorType>(type)) {
      if (std::optional<Dim> number = argumentNumber(function, i))
        addSymbols(*number, found);
      continue;
    }
    if (!isa<RankedTensorType>(type))
      if (auto declared =
              function.getArgAttrOfType<TypeAttr>(i, ft::names::kDeclared))
        type = declared.getValue();
    addSymbols(type, found);
  }
}

/// Whether every symbol of a relation is of an argument.
static bool onlyOf(SymExpr relation, const llvm::StringSet<> &inputs) {
  llvm::StringSet<> all;
  relation.collectSymbols(all);
  return llvm::all_of(
      all, [&](const auto &entry) { return inputs.contains(entry.getKey()); });
}

void ModuleScope::blame(Operation *op, const Twine &why) {
  if (wrong)
    return;
  wrong = op;
  reason = why.str();
}

LogicalResult ModuleScope::verify() const {
  return wrong ? wrong->emitError("[FT0107] ") << reason : success();
}

ModuleScope::ModuleScope(ModuleOp module, func::FuncOp forward,
                         Unbacked unbacked)
    : env(symbolsOf(module)), fakeScope(env) {
  fakeScope.allowUnknownTruth();
  collectInputs(forward, inputs);
  auto end = [](std::optional<uint64_t> v, int64_t otherwise) {
    return v ? static_cast<int64_t>(*v) : otherwise;
  };
  llvm::StringSet<> known, declared;
  for (SymbolOp op : module.getOps<SymbolOp>()) {
    StringRef name = op.getSym();
    if (!declared.insert(name).second) {
      blame(op, "the symbol '" + name + "' is declared twice");
      continue;
    }
    if (isInput(name)) {
      SymbolInfo info;
      info.range = {end(op.getLower(), 0), end(op.getUpper(), Interval::kMax)};
      info.hint = end(op.getHint(), std::max<int64_t>(info.range.lo, 0));
      info.input = op.getSource().value_or("").str();
      env.addInputSize(name, std::move(info));
      known.insert(name);
    } else if (unbacked == Unbacked::Keep) {
      env.addUnbacked({end(op.getLower(), Interval::kMin),
                       end(op.getUpper(), Interval::kMax)},
                      {op.getSource().value_or("").str(), ""}, name);
      env.context().unbackedSymbol(name);
      fakeScope.reserveName(name);
    }
  }
  declared.insert_range(inputs.keys());
  for (const auto &entry : inputs) {
    fakeScope.reserveName(entry.getKey());
    if (!known.contains(entry.getKey()))
      env.addInputSize(entry.getKey(), SymbolInfo());
  }
  for (FactOp op : module.getOps<FactOp>()) {
    // What does not parse, the op's verifier has refused.
    llvm::Expected<SymExpr> relation = env.context().parse(op.getRelation());
    if (!relation || !relation->isPredicate())
      llvm::consumeError(relation.takeError());
    else if (!onlyOf(*relation, declared))
      blame(op, "the fact '" + op.getRelation() +
                    "' names a symbol that nothing declares");
    else if ((unbacked == Unbacked::Keep || onlyOf(*relation, inputs)) &&
             !env.declare(*relation, {op.getCause().value_or("").str(), ""}))
      blame(op, "the fact '" + op.getRelation() +
                    "' contradicts what is known of its symbols");
  }
}

void ModuleScope::bind(ModuleOp module) const {
  SmallVector<SymbolOp> stale;
  Operation *last = nullptr;
  for (SymbolOp op : module.getOps<SymbolOp>()) {
    if (isInput(op.getSym()))
      last = op;
    else
      stale.push_back(op);
  }
  for (SymbolOp op : stale)
    op.erase();
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  if (last)
    builder.setInsertionPointAfter(last);
  for (const FakeScope::Unbacked &made : fakeScope.made()) {
    auto number = [&](int64_t v, int64_t none) {
      return v == none ? IntegerAttr() : builder.getI64IntegerAttr(v);
    };
    SymbolOp::create(builder, module.getLoc(),
                     builder.getStringAttr(made.symbol.name()),
                     number(made.range.lo, Interval::kMin),
                     number(made.range.hi, Interval::kMax),
                     /*hint=*/IntegerAttr(), builder.getStringAttr(made.origin),
                     /*title=*/StringAttr());
  }
}

} // namespace ft
