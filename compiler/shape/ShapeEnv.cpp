//===- ShapeEnv.cpp - Symbols, facts, guards of one program ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/ShapeEnv.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ft {

int64_t SymbolInfo::sample() const {
  return hint ? *hint : range.lo > 0 ? range.lo : range.hi < 0 ? range.hi : 0;
}

ShapeEnv::ShapeEnv(SymContext &context) : ctx(context), ranges(context) {
  scopes.push_back({FactBase(context), {}, context.boolean(true), 0});
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

SymExpr ShapeEnv::addInputSize(llvm::StringRef name, SymbolInfo info) {
  SymExpr expr = ctx.symbol(name);
  if (!index.try_emplace(expr, infos.size()).second)
    return expr;
  info.expr = expr;
  info.backed = true;
  if (info.hint)
    hints[name] = *info.hint;
  int64_t sample = info.sample();
  // Every scope: a region may meet an input's size before its parent does.
  for (Scope &scope : scopes)
    scope.base.declare(expr, info.range, sample);
  ranges.declare(expr, info.range, sample);
  infos.push_back(std::move(info));
  return expr;
}

SymExpr ShapeEnv::addUnbacked(Interval range, Provenance origin,
                              llvm::StringRef name) {
  SymExpr expr = name.empty() ? ctx.freshSymbol("u") : ctx.symbol(name);
  if (!index.try_emplace(expr, infos.size()).second)
    return expr;
  SymbolInfo info;
  info.expr = expr;
  info.backed = false;
  info.range = range;
  info.origin = std::move(origin);
  int64_t sample = info.sample();
  for (Scope &scope : scopes)
    scope.base.declare(expr, range, sample);
  ranges.declare(expr, range, sample);
  infos.push_back(std::move(info));
  return expr;
}

const SymbolInfo *ShapeEnv::symbol(SymExpr expr) const {
  auto it = index.find(expr);
  return it == index.end() ? nullptr : &infos[it->second];
}

bool ShapeEnv::isBacked(SymExpr expr) const {
  bool backed = bool(expr);
  if (expr)
    forEachSymbol(expr, [&](SymExpr s) {
      const SymbolInfo *info = symbol(s);
      backed &= info && info->backed;
    });
  return backed;
}

std::optional<int64_t> ShapeEnv::evaluateHints(SymExpr expr) const {
  SymValue value =
      SymContext::evaluate(expr, [&](llvm::StringRef name, int64_t &number) {
        auto it = hints.find(name);
        if (it == hints.end())
          return false;
        number = it->second;
        return true;
      });
  if (!value)
    return std::nullopt;
  return value.value;
}

std::optional<int64_t> ShapeEnv::hint(SymExpr expr) const {
  return isBacked(expr) ? evaluateHints(expr) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Facts and regions
//===----------------------------------------------------------------------===//

bool ShapeEnv::assume(SymExpr predicate, FactKind kind,
                      const Provenance &origin) {
  Scope &scope = scopes.back();
  scope.facts.push_back({predicate, kind, origin});
  return scope.base.assume(predicate);
}

bool ShapeEnv::declare(SymExpr predicate, Provenance origin) {
  return assume(predicate, FactKind::Declared, origin);
}

void ShapeEnv::enterRegion(SymExpr condition, Provenance origin) {
  if (!condition)
    condition = ctx.boolean(true);
  SymExpr all = ctx.logicalAnd({scopes.back().condition, condition});
  Scope inner{current(), scopes.back().facts, all ? all : ctx.boolean(true),
              allGuards.size()};
  scopes.push_back(std::move(inner));
  if (!condition.isTrue())
    assume(condition, FactKind::Region, origin);
}

void ShapeEnv::leaveRegion() {
  if (scopes.size() == 1)
    return;
  size_t first = scopes.back().firstGuard;
  scopes.pop_back();
  // Entry guards are checked before the call, wherever they arose.
  for (size_t i = first; i < allGuards.size(); ++i)
    if (!allGuards[i]->atRunTime)
      assume(allGuards[i]->predicate, FactKind::Guard, allGuards[i]->origin);
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// How the example decides; where it does not enter the region, how another
/// input does that would.
std::optional<bool> ShapeEnv::valueAtExample(SymExpr predicate) const {
  std::optional<int64_t> inside = evaluateHints(scopes.back().condition);
  if (inside && *inside) {
    std::optional<int64_t> value = evaluateHints(predicate);
    if (value)
      return *value != 0;
    return std::nullopt;
  }
  const FactBase::Model *model = current().model();
  if (!model)
    return std::nullopt;
  SymValue value = SymContext::evaluate(
      predicate, [&](llvm::StringRef name, int64_t &number) {
        auto it = model->find(name);
        if (it == model->end())
          return false;
        number = it->second;
        return true;
      });
  if (!value)
    return std::nullopt;
  return value.value != 0;
}

/// Without quotients of what is known to be a multiple: a == 4 for a//4 == 1
/// where a % 4 == 0, which is checked by itself.
SymExpr ShapeEnv::withoutQuotients(SymExpr predicate) {
  SymKind kind = predicate.kind();
  if (kind == SymKind::And || kind == SymKind::Or) {
    llvm::SmallVector<SymExpr, 4> parts;
    for (const SymTerm &term : predicate.terms())
      parts.push_back(withoutQuotients(term.expr));
    SymExpr all =
        kind == SymKind::And ? ctx.logicalAnd(parts) : ctx.logicalOr(parts);
    return all ? all : predicate;
  }
  if (kind != SymKind::Eq && kind != SymKind::Le)
    return predicate;
  SymExpr difference = predicate.terms()[0].expr;
  SymTerm storage;
  for (const SymTerm &term : difference.affine(storage).terms) {
    if (term.expr.kind() != SymKind::FloorDiv)
      continue;
    SymExpr divisor = term.expr.terms()[1].expr;
    if (!divisor.isConst())
      continue;
    SymExpr scaled = simplify(difference * divisor.constant());
    if (!scaled || scaled.size() >= difference.size())
      continue;
    SymExpr zero = ctx.constant(0);
    SymExpr plain =
        kind == SymKind::Eq ? ctx.eq(scaled, zero) : ctx.le(scaled, zero);
    return plain ? plain : predicate;
  }
  return predicate;
}

Guard *ShapeEnv::addGuard(SymExpr asked, bool atRunTime,
                          const Provenance &origin) {
  auto guard = std::make_unique<Guard>();
  unsigned number = atRunTime ? assertions++ : entryGuards++;
  guard->id = (atRunTime ? "a" : "g") + llvm::utostr(number);
  SymExpr shorter = ranges.normalForm(asked);
  guard->asked = shorter.size() < asked.size() ? shorter : asked;
  // What holds in a region only is not checked at the entry.
  if (!inRegion())
    guard->asked = withoutQuotients(guard->asked);
  guard->condition = scopes.back().condition;
  SymExpr implied =
      ctx.logicalOr({ctx.logicalNot(guard->condition), guard->asked});
  guard->predicate = implied ? implied : guard->asked;
  guard->atRunTime = atRunTime;
  guard->origin = origin;
  allGuards.push_back(std::move(guard));
  assume(asked, atRunTime ? FactKind::Assertion : FactKind::Guard, origin);
  return allGuards.back().get();
}

Decision ShapeEnv::decide(SymExpr predicate, const Provenance &origin,
                          bool assertData, bool mustHold) {
  switch (query(predicate)) {
  case Answer::Proved:
    return {Decision::Proved, true, nullptr};
  case Answer::Refuted:
    return {Decision::Refuted, false, nullptr};
  case Answer::Unknown:
    break;
  }
  if (!predicate || !predicate.isPredicate())
    return {};
  if (!isBacked(predicate)) {
    if (!assertData)
      return {};
    return {Decision::Asserted, true, addGuard(predicate, true, origin)};
  }
  std::optional<bool> value = valueAtExample(predicate);
  if (!value)
    return {};
  SymExpr fact = *value || mustHold ? predicate : ctx.logicalNot(predicate);
  if (!fact)
    return {};
  return {Decision::Guarded, *value, addGuard(fact, false, origin)};
}

Decision ShapeEnv::decide(SymExpr predicate, const Provenance &origin) {
  return decide(predicate, origin, true, false);
}
Decision ShapeEnv::branch(SymExpr predicate, const Provenance &origin) {
  return decide(predicate, origin, false, false);
}
Decision ShapeEnv::require(SymExpr predicate, const Provenance &origin) {
  return decide(predicate, origin, true, true);
}
bool ShapeEnv::decideOr(SymExpr predicate, bool fallback,
                        const Provenance &origin) {
  Decision decision = branch(predicate, origin);
  return decision ? decision.value : fallback;
}

std::optional<size_t> ShapeEnv::choose(llvm::ArrayRef<SymExpr> cases,
                                       const Provenance &origin,
                                       size_t openFrom) {
  llvm::SmallVector<size_t, 4> open;
  llvm::SmallVector<SymExpr, 4> possible;
  bool backed = true, narrow = false;
  for (auto [i, predicate] : llvm::enumerate(cases)) {
    Answer answer = query(predicate);
    if (answer == Answer::Proved)
      return i;
    if (answer != Answer::Unknown || !predicate || !predicate.isPredicate())
      continue;
    open.push_back(i);
    possible.push_back(predicate);
    backed &= isBacked(predicate);
    narrow |= i >= openFrom && valueAtExample(predicate).value_or(false);
  }
  if (openFrom < cases.size() && open.size() > 1 && backed)
    if (SymExpr any = ctx.logicalOr(possible)) {
      if (isTrue(any))
        return cases.size();
      if (narrow) {
        addGuard(any, false, origin);
        return cases.size();
      }
    }
  auto commit = [&](size_t taken) {
    Guard *guard = addGuard(cases[taken], !isBacked(cases[taken]), origin);
    for (size_t i : open)
      if (i != taken)
        guard->instead.push_back(cases[i]);
    return taken;
  };
  for (size_t i : open)
    if (isBacked(cases[i]) && valueAtExample(cases[i]).value_or(false))
      return commit(i);
  for (size_t i : open)
    if (!isBacked(cases[i]))
      return commit(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

SymExpr ShapeEnv::simplify(SymExpr expr) {
  if (!expr || expr.isPredicate())
    return expr;
  Interval range = bounds(expr);
  if (range.isPoint())
    return ctx.constant(range.lo);
  llvm::SmallVector<SymTerm, 4> terms;
  for (const SymTerm &term : expr.terms())
    terms.push_back({term.k, simplify(term.expr)});
  SymExpr result = expr;
  switch (expr.kind()) {
  case SymKind::Add: {
    result = ctx.sum(expr.constant(), terms);
    if (!result || result.kind() != SymKind::Add)
      break;
    // k·(e // c) of a multiple e of c.
    for (const SymTerm &term : llvm::to_vector(result.terms())) {
      if (term.expr.kind() != SymKind::FloorDiv)
        continue;
      SymExpr e = term.expr.terms()[0].expr, c = term.expr.terms()[1].expr;
      if (!c.isConst() || c.constant() < 2 || term.k % c.constant() != 0 ||
          !isTrue(ctx.eq(ctx.mod(e, c), ctx.constant(0))))
        continue;
      SymExpr next =
          ctx.sum(0, {SymTerm{1, result}, SymTerm{-term.k, term.expr},
                      SymTerm{term.k / c.constant(), e}});
      result = next ? next : result;
    }
    break;
  }
  case SymKind::Mul: {
    result = ctx.constant(1);
    for (const SymTerm &term : terms)
      result = ctx.mul(result, ctx.pow(term.expr, ctx.constant(term.k)));
    break;
  }
  case SymKind::FloorDiv:
  case SymKind::Mod: {
    SymExpr a = terms[0].expr, b = terms[1].expr;
    bool isMod = expr.kind() == SymKind::Mod;
    if (!a || !b)
      break;
    if (bounds(a).lo >= 0 && isTrue(ctx.lt(a, b)))
      return isMod ? a : ctx.constant(0);
    if (isMod && isTrue(ctx.eq(ctx.mod(a, b), ctx.constant(0))))
      return ctx.constant(0);
    result = isMod ? ctx.mod(a, b) : ctx.floorDiv(a, b);
    break;
  }
  case SymKind::Min:
  case SymKind::Max: {
    bool isMax = expr.kind() == SymKind::Max;
    llvm::SmallVector<SymExpr, 4> kept;
    for (const SymTerm &term : terms)
      kept.push_back(term.expr);
    for (size_t i = 0; i < kept.size() && kept.size() > 1;) {
      bool beaten = false;
      for (size_t j = 0; j < kept.size() && !beaten; ++j)
        beaten = j != i && isTrue(isMax ? ctx.le(kept[i], kept[j])
                                        : ctx.le(kept[j], kept[i]));
      if (beaten)
        kept.erase(kept.begin() + i);
      else
        ++i;
    }
    result = isMax ? ctx.max(kept) : ctx.min(kept);
    break;
  }
  default:
    break;
  }
  return result ? result : expr;
}

std::string ShapeEnv::text(SymExpr expr) const {
  SymExpr named = ctx.substitute(expr, [&](llvm::StringRef name) {
    const SymbolInfo *info = symbol(ctx.symbol(name));
    return info && !info->userName.empty() ? ctx.symbol(info->userName)
                                           : SymExpr();
  });
  return (named ? named : expr).str();
}

const Guard *ShapeEnv::guard(llvm::StringRef id) const {
  for (const std::unique_ptr<Guard> &guard : allGuards)
    if (guard->id == id)
      return guard.get();
  return nullptr;
}

} // namespace ft
