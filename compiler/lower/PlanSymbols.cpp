//===- PlanSymbols.cpp - The sizes that a run decides ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/PlanSymbols.h"

#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ft {

namespace {
class Planner {
public:
  Planner(ModuleOp module, Plan &plan)
      : module(module), plan(plan), context(module.getContext()
                                                ->getOrLoadDialect<FtDialect>()
                                                ->symbolContext()) {}

  FailureOr<std::vector<SizeGuard>> run() {
    for (SymbolOp op : module.getOps<SymbolOp>())
      addSymbol(op);
    readInputs();
    if (failed(checkReadable()))
      return failure();
    std::vector<SizeGuard> guards;
    for (FactOp op : module.getOps<FactOp>())
      addFact(op, guards);
    retype();
    return guards;
  }

private:
  PlannedSymbol *find(StringRef name) {
    auto it = indices.find(name);
    return it == indices.end() ? nullptr : &plan.symbols[it->second];
  }

  void addSymbol(SymbolOp op) {
    PlannedSymbol symbol;
    symbol.name = op.getSym().str();
    symbol.title = op.getTitle().value_or(op.getSym()).str();
    symbol.lower = static_cast<int64_t>(op.getLower().value_or(0));
    symbol.lower = std::max<int64_t>(symbol.lower, 0);
    if (std::optional<uint64_t> upper = op.getUpper())
      symbol.upper = static_cast<int64_t>(*upper);
    symbol.hint = op.getHint()
                      ? static_cast<int64_t>(*op.getHint())
                      : std::clamp<int64_t>(2, symbol.lower, symbol.upper);
    indices[symbol.name] = plan.symbols.size();
    plan.symbols.push_back(std::move(symbol));
  }

  /// Dims that are symbols first: what they say needs no arithmetic.
  void readInputs() {
    for (bool bare : {true, false})
      for (auto [i, input] : llvm::enumerate(plan.inputs)) {
        std::optional<TensorMeta> meta = metaFromType(input.type);
        for (size_t d = 0; meta && d < meta->sizes.size(); ++d)
          readDim(meta->sizes[d], static_cast<int64_t>(i),
                  static_cast<int64_t>(d), bare);
      }
  }

  void readDim(Dim dim, int64_t input, int64_t position, bool bare) {
    if (dim.isStatic())
      return;
    SymTerm storage;
    SymExpr::Affine sum = dim.symbolic().affine(storage);
    if (sum.terms.size() != 1 || sum.terms[0].k < 1 ||
        sum.terms[0].expr.kind() != SymKind::Symbol ||
        (bare && (sum.terms[0].k != 1 || sum.constant != 0)))
      return;
    PlannedSymbol *symbol = find(sum.terms[0].expr.name());
    if (!symbol || symbol->input >= 0)
      return;
    symbol->input = input;
    symbol->dim = position;
    symbol->scale = sum.terms[0].k;
    symbol->offset = sum.constant;
  }

  LogicalResult checkReadable() {
    for (const PlannedValue &input : plan.inputs) {
      std::optional<TensorMeta> meta = metaFromType(input.type);
      llvm::StringSet<> names;
      for (Dim d : meta ? meta->sizes : Dims())
        if (!d.isStatic())
          d.symbolic().collectSymbols(names);
      for (const auto &name : names) {
        PlannedSymbol *symbol = find(name.getKey());
        if (symbol && symbol->input >= 0)
          continue;
        return emitError(module.getLoc())
               << "[FT0006] no dim of an input tells the size '"
               << (symbol ? symbol->title : name.getKey().str())
               << "' by itself, which the sizes of '" << input.name << "' need";
      }
    }
    return success();
  }

  //===--- Facts ----------------------------------------------------------===//

  void addFact(FactOp op, std::vector<SizeGuard> &guards) {
    if (op.getImpliedBy())
      return;
    llvm::Expected<SymExpr> relation = context.parse(op.getRelation());
    if (!relation) { // the op's verifier has refused it
      llvm::consumeError(relation.takeError());
      return;
    }
    SymExpr condition = solved(*relation);
    if (!condition || condition.isTrue() || isRange(condition) ||
        isEquality(condition))
      return;
    guards.push_back({condition, sentenceFor(op, condition)});
  }

  /// k*s + c <= 0 is a bound of s.
  bool isRange(SymExpr condition) {
    if (condition.kind() != SymKind::Le)
      return false;
    SymTerm storage;
    SymExpr::Affine sum = condition.terms()[0].expr.affine(storage);
    if (sum.terms.size() != 1 || sum.terms[0].expr.kind() != SymKind::Symbol)
      return false;
    PlannedSymbol *symbol = find(sum.terms[0].expr.name());
    int64_t k = sum.terms[0].k, c = sum.constant;
    // The form has no common factor: k is 1 or -1.
    if (!symbol || symbol->input < 0 || (k != 1 && k != -1) || c == INT64_MIN)
      return false;
    if (k == 1)
      symbol->upper = std::min(symbol->upper, -c);
    else
      symbol->lower = std::max(symbol->lower, c);
    return true;
  }

  /// s == e, where e has other symbols that the inputs tell: of two symbols
  /// the one that is read later goes.
  bool isEquality(SymExpr condition) {
    if (condition.kind() != SymKind::Eq)
      return false;
    SymExpr zero = condition.terms()[0].expr;
    SymTerm storage;
    SymExpr best, is;
    std::pair<int64_t, int64_t> place{-1, -1};
    for (const SymTerm &term : zero.affine(storage).terms) {
      if (term.expr.kind() != SymKind::Symbol || (term.k != 1 && term.k != -1))
        continue;
      const PlannedSymbol *symbol = find(term.expr.name());
      if (!symbol || symbol->input < 0)
        return false;
      SymExpr rest = zero - term.expr * term.k; // k*s + rest == 0
      SymExpr value = term.k == 1 ? -rest : rest;
      if (value && value.isConst()) {
        PlannedSymbol *fixed = find(term.expr.name());
        fixed->lower = fixed->upper = value.constant();
        return true;
      }
      if (!value || contains(value, symbol->name) || !isTold(value) ||
          std::pair(symbol->input, symbol->dim) <= place)
        continue;
      place = {symbol->input, symbol->dim};
      best = term.expr;
      is = value;
    }
    if (!best)
      return false;
    solutions[best.name()] = is;
    for (auto &entry : solutions)
      entry.second = solved(entry.second);
    return true;
  }

  static bool contains(SymExpr expr, StringRef name) {
    llvm::StringSet<> names;
    expr.collectSymbols(names);
    return names.contains(name);
  }
  bool isTold(SymExpr expr) {
    llvm::StringSet<> names;
    expr.collectSymbols(names);
    return llvm::all_of(names.keys(), [&](StringRef name) {
      PlannedSymbol *symbol = find(name);
      return symbol && symbol->input >= 0;
    });
  }

  /// Without the symbols that equalities solve for.
  SymExpr solved(SymExpr expr) {
    SymExpr result = context.substitute(
        expr, [&](StringRef name) { return solutions.lookup(name); });
    return result ? result : expr;
  }

  void retype() {
    if (solutions.empty())
      return;
    auto solve = [&](Dim d) {
      return d.isStatic() ? d : Dim(solved(d.symbolic()));
    };
    for (std::vector<PlannedValue> *values : {&plan.inputs, &plan.outputs})
      for (PlannedValue &value : *values) {
        std::optional<TensorMeta> meta = metaFromType(value.type);
        if (!meta || meta->isStatic())
          continue;
        llvm::transform(meta->sizes, meta->sizes.begin(), solve);
        llvm::transform(meta->strides, meta->strides.begin(), solve);
        meta->offset = solve(meta->offset);
        value.type = typeFromMeta(module.getContext(), *meta);
      }
  }

  //===--- Sentences ------------------------------------------------------===//

  std::string titled(SymExpr expr) {
    return context
        .substitute(expr,
                    [&](StringRef name) {
                      PlannedSymbol *symbol = find(name);
                      return symbol ? context.symbol(symbol->title) : SymExpr();
                    })
        .str();
  }

  std::string sentenceFor(FactOp op, SymExpr condition) {
    std::string text;
    SymExpr left =
        condition.kind() == SymKind::Eq ? condition.terms()[0].expr : SymExpr();
    if (left && left.kind() == SymKind::Mod && left.terms()[1].expr.isConst())
      text = titled(left.terms()[0].expr) + " must be a multiple of " +
             std::to_string(left.terms()[1].expr.constant());
    else
      text = titled(condition) + " must hold";
    StringRef cause = op.getCause().value_or("");
    StringRef place = op.getPlace().value_or("");
    if (op.getId() && !cause.empty())
      text += ", for " + cause.str();
    if (op.getId() && !place.empty())
      text += " at " + place.str();
    return text;
  }

  ModuleOp module;
  Plan &plan;
  SymContext &context;
  llvm::StringMap<size_t> indices;
  llvm::StringMap<SymExpr> solutions;
};
} // namespace

FailureOr<std::vector<SizeGuard>> planSymbols(ModuleOp module, Plan &plan) {
  return Planner(module, plan).run();
}

} // namespace ft
