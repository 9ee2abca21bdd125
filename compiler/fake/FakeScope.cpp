//===- FakeScope.cpp - What outlives one call ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/FakeScope.h"

#include "dialects/ft/Places.h"

using namespace llvm;

namespace ft {

std::string FakeScope::freshName(StringRef prefix, unsigned &next) {
  std::string name;
  do
    name = (prefix + Twine(next++)).str();
  while (taken.contains(name));
  return name;
}

Dim FakeScope::unbackedInteger(int64_t lower, std::optional<Dim> upper,
                               StringRef origin) {
  std::string name = freshName("u", nextInteger);
  Interval range = {lower, Interval::kMax};
  if (upper)
    range.hi = upper->isStatic() ? upper->value()
                                 : shapeEnv.bounds(upper->symbolic()).hi;
  shapeEnv.addUnbacked(range, {origin.str(), ""}, name);
  SymExpr symbol = symbols().unbackedSymbol(name);
  if (upper && !upper->isStatic())
    shapeEnv.declare(symbols().le(symbol, upper->symbolic()),
                     {origin.str(), ""});
  unbacked.push_back({symbol, /*isFloat=*/false, range, origin.str()});
  return Dim(symbol);
}

SymExpr FakeScope::unbackedFloat(StringRef origin) {
  SymExpr symbol = symbols().unbackedSymbol(freshName("zuf", nextFloat));
  unbacked.push_back({symbol, /*isFloat=*/true, {}, origin.str()});
  return symbol;
}

std::optional<bool> FakeScope::answer(SymExpr predicate) const {
  switch (shapeEnv.query(predicate)) {
  case Answer::Proved:
    return true;
  case Answer::Refuted:
    return false;
  default:
    return std::nullopt;
  }
}

Provenance FakeScope::origin(StringRef op) const {
  return {op.str(), caller ? placeOf(caller->getLoc()) : std::string()};
}

std::optional<bool> FakeScope::decide(SymExpr predicate, StringRef op,
                                      bool &guarded) {
  std::optional<bool> known = answer(predicate);
  if (known || !guards)
    return known;
  Decision decision = shapeEnv.branch(predicate, origin(op));
  guarded |= decision.how == Decision::Guarded;
  return decision ? std::optional(decision.value) : std::nullopt;
}

std::optional<size_t> FakeScope::choose(ArrayRef<SymExpr> cases, StringRef op,
                                        bool &guarded, size_t openFrom) {
  for (auto [i, predicate] : enumerate(cases))
    if (answer(predicate).value_or(false))
      return i;
  if (!guards) {
    // Some walk before this one has left it open.
    if (openFrom >= cases.size() || !llvm::all_of(cases, [&](SymExpr p) {
          return p && shapeEnv.isBacked(p);
        }))
      return std::nullopt;
    SymExpr any = symbols().logicalOr(cases);
    return any && answer(any).value_or(false) ? std::optional(cases.size())
                                              : std::nullopt;
  }
  size_t before = shapeEnv.guards().size();
  std::optional<size_t> taken = shapeEnv.choose(cases, origin(op), openFrom);
  if (shapeEnv.guards().size() == before)
    return taken;
  guarded = true;
  if (const Guard *guard = shapeEnv.guards().back().get(); guard->atRunTime)
    assumed.push_back({guard, caller});
  return taken;
}

bool FakeScope::require(SymExpr predicate, StringRef op) {
  if (std::optional<bool> known = answer(predicate))
    return *known;
  return shapeEnv.require(predicate, origin(op)).how != Decision::Refuted;
}

std::optional<bool> FakeScope::less(Dim a, Dim b) const {
  SymContext &context = shapeEnv.context();
  return answer(context.lt(a.toExpr(context), b.toExpr(context)));
}

std::optional<bool> FakeScope::equal(Dim a, Dim b) const {
  SymContext &context = shapeEnv.context();
  return answer(context.eq(a.toExpr(context), b.toExpr(context)));
}

bool FakeScope::equalAsClaimed(Dim a, Dim b) {
  if (a == b)
    return true;
  if (a.isStatic() && b.isStatic())
    return false;
  if (!claims || claimFacts != shapeEnv.facts().size()) {
    claims = shapeEnv.declaredFacts();
    for (const ShapeEnv::Fact &fact : shapeEnv.facts())
      if (fact.kind != ShapeEnv::FactKind::Declared)
        claims->assume(fact.predicate);
    for (SymExpr bound : claimed)
      claims->assume(bound);
    claimFacts = shapeEnv.facts().size();
  }
  SymContext &context = symbols();
  return claims->query(context.eq(a.toExpr(context), b.toExpr(context))) ==
         Answer::Proved;
}

std::optional<Dim> FakeScope::remembered(uint64_t key,
                                         StringRef purpose) const {
  auto it = memo.find({key, purpose});
  return it == memo.end() ? std::nullopt : std::optional(it->second);
}

void FakeScope::remember(uint64_t key, StringRef purpose, Dim made) {
  memo[{key, purpose}] = made;
}

void FakeScope::setConstant(uint64_t key, ConstantPtr value, uint64_t base) {
  auto shared = base ? constants.find(base) : constants.end();
  uint64_t storage = shared == constants.end() ? key : shared->second.storage;
  constants[key] = {std::move(value), storage};
}

void FakeScope::written(uint64_t key) {
  memo.clear();
  auto it = constants.find(key);
  if (it == constants.end())
    return;
  for (auto &[other, entry] : constants)
    if (entry.storage == it->second.storage)
      entry.value = nullptr;
}

} // namespace ft
