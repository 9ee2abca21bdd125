//===- GuardMinimizer.cpp - Drops guards that others imply -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A guard is added when the facts so far do not imply it, so only later guards
// can make it superfluous: guards are visited in order, and one is dropped if
// the declared facts and all that are left imply it. Example:
//
//   g0: a != 3      g1: a >= 2      g2: a % 4 == 0
//
// g2 implies g0; g1 stays, since a == 0 satisfies g2. The causes shown are
// shrunk one by one until each is needed. No two guards imply each other and
// are both dropped, since a dropped one is no premise any more.
//
// Cost: a set of facts for each guard, and for each implied one another for
// every guard that shares symbols with it: quadratic in those, in microseconds.

#include "compiler/shape/ShapeEnv.h"

#include "llvm/ADT/STLExtras.h"

namespace ft {

FactBase ShapeEnv::declaredFacts() const {
  FactBase base(ctx);
  for (const SymbolInfo &info : infos)
    base.declare(info.expr, info.range, info.sample());
  // Declarations are made outside of regions.
  for (const Fact &fact : scopes.front().facts)
    if (fact.kind == FactKind::Declared)
      base.assume(fact.predicate);
  return base;
}

static bool implies(const FactBase &declared,
                    llvm::ArrayRef<const Guard *> premises,
                    const Guard *conclusion) {
  FactBase base = declared;
  for (const Guard *premise : premises)
    base.assume(premise->predicate);
  return base.query(conclusion->predicate) == Answer::Proved;
}

/// Of `premises` those that share symbols with the conclusion, directly or
/// through one another or through what is declared: no others can matter.
static llvm::SmallVector<const Guard *>
connected(llvm::ArrayRef<const Guard *> premises,
          llvm::ArrayRef<ShapeEnv::Fact> facts, const Guard *conclusion) {
  llvm::DenseSet<SymExpr> reached;
  auto reach = [&](SymExpr e) {
    forEachSymbol(e, [&](SymExpr s) { reached.insert(s); });
  };
  auto touches = [&](SymExpr e) {
    bool found = false;
    forEachSymbol(e, [&](SymExpr s) { found |= reached.contains(s); });
    return found;
  };
  reach(conclusion->predicate);
  llvm::DenseSet<const Guard *> taken;
  for (size_t before = 0; reached.size() != before;) {
    before = reached.size();
    for (const ShapeEnv::Fact &fact : facts)
      if (fact.kind == ShapeEnv::FactKind::Declared && touches(fact.predicate))
        reach(fact.predicate);
    for (const Guard *premise : premises)
      if (touches(premise->predicate)) {
        taken.insert(premise);
        reach(premise->predicate);
      }
  }
  llvm::SmallVector<const Guard *> result;
  for (const Guard *premise : premises)
    if (taken.contains(premise))
      result.push_back(premise);
  return result;
}

/// Premises of which each is needed; all of them imply the conclusion.
static llvm::SmallVector<const Guard *>
shrink(const FactBase &declared, llvm::SmallVector<const Guard *> premises,
       const Guard *conclusion) {
  for (size_t i = 0; i < premises.size();) {
    llvm::SmallVector<const Guard *> fewer = premises;
    fewer.erase(fewer.begin() + i);
    if (implies(declared, fewer, conclusion))
      premises = std::move(fewer);
    else
      ++i;
  }
  return premises;
}

std::vector<GuardStatus> ShapeEnv::minimalGuards() const {
  std::vector<GuardStatus> result;
  FactBase declared = declaredFacts();
  llvm::SmallVector<const Guard *> left;
  for (const std::unique_ptr<Guard> &guard : allGuards)
    if (!guard->atRunTime)
      left.push_back(guard.get());
  for (const std::unique_ptr<Guard> &guard : allGuards) {
    GuardStatus status;
    status.guard = guard.get();
    if (!guard->atRunTime) {
      llvm::SmallVector<const Guard *> others;
      for (const Guard *other : left)
        if (other != guard.get())
          others.push_back(other);
      llvm::SmallVector<const Guard *> premises =
          connected(others, scopes.front().facts, guard.get());
      if (implies(declared, premises, guard.get())) {
        status.required = false;
        left = others;
        premises = shrink(declared, std::move(premises), guard.get());
        status.impliedBy.assign(premises.begin(), premises.end());
      }
    }
    result.push_back(std::move(status));
  }
  // A cause may have been dropped later, by guards that stay.
  for (GuardStatus &status : result) {
    bool stale = llvm::any_of(status.impliedBy, [&](const Guard *cause) {
      return !llvm::is_contained(left, cause);
    });
    if (!stale)
      continue;
    llvm::SmallVector<const Guard *> causes =
        shrink(declared, connected(left, scopes.front().facts, status.guard),
               status.guard);
    status.impliedBy.assign(causes.begin(), causes.end());
  }
  return result;
}

} // namespace ft
