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

void collectInputSymbols(func::FuncOp function, llvm::StringSet<> &found) {
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

static int64_t endOf(std::optional<uint64_t> v, int64_t otherwise) {
  return v ? static_cast<int64_t>(*v) : otherwise;
}

SymbolInfo inputSymbol(SymbolOp op) {
  SymbolInfo info;
  info.range = {endOf(op.getLower(), 0), endOf(op.getUpper(), Interval::kMax)};
  if (std::optional<uint64_t> hint = op.getHint())
    info.hint = static_cast<int64_t>(*hint);
  info.userName = op.getTitle().value_or("").str();
  StringRef source = op.getSource().value_or("");
  auto [input, dim] = source.rsplit(':');
  if (dim.empty() || dim.getAsInteger(10, info.dim))
    input = source;
  info.input = input.str();
  return info;
}

ModuleScope::ModuleScope(ModuleOp module, func::FuncOp forward, Use use)
    : env(symbolsOf(module)), fakeScope(env) {
  fakeScope.allowUnknownTruth();
  fakeScope.allowGuards(use == Use::Remake);
  collectInputSymbols(forward, inputs);
  bool keepSymbols = use == Use::Keep;
  llvm::StringSet<> known, declared;
  for (SymbolOp op : module.getOps<SymbolOp>()) {
    StringRef name = op.getSym();
    if (!declared.insert(name).second) {
      blame(op, "the symbol '" + name + "' is declared twice");
      continue;
    }
    if (isInput(name)) {
      SymExpr size = env.addInputSize(name, inputSymbol(op));
      if (std::optional<uint64_t> traced = op.getTracedLower())
        fakeScope.claimAtLeast(size, static_cast<int64_t>(*traced));
      known.insert(name);
    } else if (keepSymbols) {
      env.addUnbacked({endOf(op.getLower(), Interval::kMin),
                       endOf(op.getUpper(), Interval::kMax)},
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
    if (op.getId() && use == Use::Remake)
      continue;
    // What does not parse, the op's verifier has refused.
    llvm::Expected<SymExpr> relation = env.context().parse(op.getRelation());
    if (!relation || !relation->isPredicate())
      llvm::consumeError(relation.takeError());
    else if (!onlyOf(*relation, declared))
      blame(op, "the fact '" + op.getRelation() +
                    "' names a symbol that nothing declares");
    else if ((keepSymbols || onlyOf(*relation, inputs)) &&
             !env.declare(*relation, {op.getCause().value_or("").str(),
                                      op.getPlace().value_or("").str()}))
      blame(op, "the fact '" + op.getRelation() +
                    "' contradicts what is known of its symbols");
  }
}

/// Where a tracer took a lower bound for granted, a guard that only says how
/// far it can be lowered (b >= 1, for view(b, -1)) is the range of the symbol.
static void narrowRanges(ModuleOp module, ShapeEnv &env) {
  if (llvm::all_of(env.guards(), [](auto &g) { return g->atRunTime; }))
    return;
  llvm::DenseSet<SymExpr> required;
  bool known = false;
  SymContext &symbols = env.context();
  for (SymbolOp op : module.getOps<SymbolOp>()) {
    if (!op.getTracedLower())
      continue;
    if (!std::exchange(known, true))
      for (const GuardStatus &status : env.minimalGuards())
        if (status.required && !status.guard->atRunTime)
          required.insert(status.guard->predicate);
    auto traced = static_cast<int64_t>(*op.getTracedLower());
    for (int64_t lower = traced; lower > endOf(op.getLower(), 0); --lower) {
      SymExpr bound =
          symbols.ge(symbols.symbol(op.getSym()), symbols.constant(lower));
      if (!required.contains(bound))
        continue;
      op.setLower(lower);
      if (lower == traced)
        op.removeTracedLowerAttr();
      env.declare(bound, {});
    }
  }
}

/// The guards that are checked at the entry, implied ones marked.
static void bindFacts(ModuleOp module, const ShapeEnv &env) {
  SmallVector<FactOp> stale;
  Operation *last = nullptr;
  for (Operation &op : *module.getBody()) {
    auto fact = dyn_cast<FactOp>(op);
    if (fact && fact.getId())
      stale.push_back(fact);
    else if (isa<SymbolOp, FactOp>(op))
      last = &op;
  }
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  if (last)
    builder.setInsertionPointAfter(last);
  auto text = [&](StringRef s) {
    return s.empty() ? StringAttr() : builder.getStringAttr(s);
  };
  if (llvm::any_of(env.guards(), [](auto &g) { return !g->atRunTime; }))
    for (const GuardStatus &status : env.minimalGuards()) {
      const Guard &guard = *status.guard;
      if (guard.atRunTime)
        continue;
      ArrayAttr implied;
      if (!status.required) {
        SmallVector<StringRef> ids;
        for (const Guard *other : status.impliedBy)
          ids.push_back(other->id);
        implied = builder.getStrArrayAttr(ids);
      }
      auto fact = FactOp::create(builder, module.getLoc(),
                                 builder.getStringAttr(guard.predicate.str()),
                                 text(guard.origin.op), text(guard.id),
                                 text(guard.origin.source), implied);
      SmallVector<Attribute> instead;
      for (SymExpr other : guard.instead)
        instead.push_back(builder.getStringAttr(other.str()));
      if (!instead.empty())
        fact->setAttr(names::kInstead, builder.getArrayAttr(instead));
    }
  for (FactOp op : stale)
    op.erase();
}

static void bindAsserts(ModuleOp module, FakeScope &scope) {
  SmallVector<AssertOp> stale;
  module.walk([&](AssertOp op) { stale.push_back(op); });
  for (AssertOp op : stale)
    op.erase();
  for (const FakeScope::Assumption &assumed : scope.assumptions()) {
    if (!assumed.caller)
      continue;
    const Guard &guard = *assumed.guard;
    OpBuilder builder(assumed.caller);
    auto text = [&](StringRef s) {
      return s.empty() ? StringAttr() : builder.getStringAttr(s);
    };
    AssertOp::create(builder, assumed.caller->getLoc(),
                     builder.getStringAttr(guard.asked.str()), text(guard.id),
                     text(guard.origin.op), text(guard.origin.source));
  }
}

void bindGuards(ModuleOp module, FakeScope &scope) {
  narrowRanges(module, scope.env());
  bindFacts(module, scope.env());
  bindAsserts(module, scope);
}

void ModuleScope::bind(ModuleOp module) {
  SmallVector<SymbolOp> stale;
  for (SymbolOp op : module.getOps<SymbolOp>())
    if (!isInput(op.getSym()))
      stale.push_back(op);
  for (SymbolOp op : stale)
    op.erase();
  declareMade(module);
  bindGuards(module, fakeScope);
}

void ModuleScope::declareMade(ModuleOp module) {
  Operation *last = nullptr;
  for (SymbolOp op : module.getOps<SymbolOp>())
    last = op;
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
                     /*title=*/StringAttr(), /*traced_lower=*/IntegerAttr());
  }
}

} // namespace ft
