//===- FactReduce.cpp - Questions in terms of what is free -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites a predicate into one that is equivalent under the facts and easier
// to decide. Every step is an equivalence over the integers:
//
//   solved symbols          replaced by their values
//   x % 5 with 0 <= x < 5   x; a quotient or remainder of one value: it
//   4·(e // 4)              e - e % 4
//   e // c <= r             e <= c·r + c - 1    (isolated, for c >= 1)
//   e // c >= r             e >= c·r
//   Max(x, y) + r <= 0      x + r <= 0 and y + r <= 0; with a minus sign, or
//   (3x + 1) % 4 == 2       x % 4 == 3          (3 has the inverse 3 mod 4)
//   f·x <= f·y, f >= 1      x <= y
//   f·x == f·y              f == 0 or x == y
//   x·y >= 1, x, y >= 0     x >= 1 and y >= 1
//
// Each removes a quotient, an extremum or a factor, so that it ends; kMaxDepth
// ends it for certain.

#include "compiler/shape/FactBase.h"
#include "compiler/shape/SymNode.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>
#include <tuple>

namespace ft {

using namespace detail;

namespace {
constexpr unsigned kMaxDepth = 24;
/// Arms that comparing Min and Max may make.
constexpr size_t kMaxArms = 16;

bool isPlainConstant(SymExpr e, int64_t least) {
  return e.isConst() && e.constant() >= least;
}

/// An inverse of a modulo m, coprime, m >= 2.
int64_t inverse(int64_t a, int64_t m) {
  int64_t r0 = m, r1 = floorMod(a, m), t0 = 0, t1 = 1;
  while (r1 != 0) {
    int64_t q = r0 / r1;
    std::tie(r0, r1) = std::pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::pair(t1, t0 - q * t1);
  }
  return floorMod(t0, m);
}
} // namespace

void forEachSymbol(SymExpr e, llvm::function_ref<void(SymExpr)> visit) {
  if (e.kind() == SymKind::Symbol)
    return visit(e);
  for (const SymTerm &term : e.terms())
    forEachSymbol(term.expr, visit);
}

std::optional<ScaledForm> splitForm(SymExpr d) {
  SymTerm storage;
  SymExpr::Affine affine = d.affine(storage);
  if (affine.terms.empty())
    return std::nullopt;
  uint64_t content = 0;
  for (const SymTerm &term : affine.terms)
    content = std::gcd(content, term.k < 0 ? -uint64_t(term.k) : term.k);
  if (content > INT64_MAX)
    return std::nullopt;
  int64_t k = static_cast<int64_t>(content);
  if (affine.terms[0].k < 0)
    k = -k;
  if (k == 1 && affine.constant == 0)
    return ScaledForm{d, 1, 0};
  llvm::SmallVector<SymTerm, 4> terms(affine.terms.begin(), affine.terms.end());
  for (SymTerm &term : terms) {
    std::optional<int64_t> quotient = checkedFloorDiv(term.k, k);
    if (!quotient)
      return std::nullopt;
    term.k = *quotient;
  }
  SymExpr form = d.context().sum(0, terms);
  if (!form)
    return std::nullopt;
  return ScaledForm{form, k, affine.constant};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

SymExpr FactBase::substituteSolved(SymExpr e) {
  if (!e)
    return {};
  switch (e.kind()) {
  case SymKind::Const:
  case SymKind::Bool:
    return e;
  case SymKind::Symbol: {
    auto it = solved.find(e);
    return it == solved.end() ? e : it->second;
  }
  default:
    break;
  }
  auto it = substituted.find(e);
  if (it != substituted.end())
    return it->second;
  SymExpr result = rebuild(e);
  substituted[e] = result;
  return result;
}

SymExpr FactBase::rebuild(SymExpr e) {
  llvm::SmallVector<SymTerm, 4> terms(e.terms().begin(), e.terms().end());
  bool same = true;
  for (SymTerm &term : terms) {
    SymExpr arg = substituteSolved(term.expr);
    if (!arg)
      return {};
    same &= arg == term.expr;
    term.expr = arg;
  }
  // 0 <= a < b, as far as bounds tell.
  auto below = [&](SymExpr a, SymExpr b) {
    if (computeBounds(a).lo < 0)
      return false;
    SymExpr difference = b.isConst() ? SymExpr() : ctx->sub(a, b);
    return computeBounds(a).hi < computeBounds(b).lo ||
           (difference && computeBounds(difference).hi < 0);
  };
  auto constantOf = [&](SymExpr value) {
    Interval range = value ? computeBounds(value) : Interval();
    return range.isPoint() ? ctx->constant(range.lo) : value;
  };
  switch (e.kind()) {
  case SymKind::Add:
    return same ? e : ctx->sum(e.constant(), terms);
  case SymKind::Mul: {
    if (same)
      return e;
    SymExpr product = ctx->constant(1);
    for (const SymTerm &term : terms)
      product = ctx->mul(product, ctx->pow(term.expr, ctx->constant(term.k)));
    return product;
  }
  case SymKind::Pow:
    return same ? e : ctx->pow(terms[0].expr, terms[1].expr);
  case SymKind::FloorDiv:
    if (below(terms[0].expr, terms[1].expr))
      return ctx->constant(0);
    return constantOf(same ? e : ctx->floorDiv(terms[0].expr, terms[1].expr));
  case SymKind::Mod: {
    SymExpr value = same ? e : ctx->mod(terms[0].expr, terms[1].expr);
    if (!value || value.kind() != SymKind::Mod)
      return value;
    if (below(value.terms()[0].expr, value.terms()[1].expr))
      return value.terms()[0].expr;
    return constantOf(value);
  }
  case SymKind::Min:
  case SymKind::Max: {
    bool isMax = e.kind() == SymKind::Max;
    llvm::SmallVector<SymExpr, 4> kept;
    for (auto [i, term] : llvm::enumerate(terms)) {
      Interval mine = computeBounds(term.expr);
      // Of two that are always equal the first stays.
      bool beaten = llvm::any_of(llvm::enumerate(terms), [&](auto other) {
        if (other.index() == i)
          return false;
        Interval theirs = computeBounds(other.value().expr);
        bool below = isMax ? mine.hi <= theirs.lo : mine.lo >= theirs.hi;
        bool above = isMax ? theirs.hi <= mine.lo : theirs.lo >= mine.hi;
        return below && (!above || other.index() < i);
      });
      if (!beaten)
        kept.push_back(term.expr);
    }
    if (same && kept.size() == terms.size())
      return e;
    return isMax ? ctx->max(kept) : ctx->min(kept);
  }
  default: // predicates are reduced, not rebuilt
    return e;
  }
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

SymExpr FactBase::reduce(SymExpr predicate, unsigned depth) {
  if (!predicate)
    return {};
  switch (predicate.kind()) {
  case SymKind::Le:
  case SymKind::Eq:
  case SymKind::Ne: {
    SymExpr d = substituteSolved(predicate.terms()[0].expr);
    if (!d)
      return predicate;
    SymExpr reduced = predicate.kind() == SymKind::Le ? reduceLe(d, depth)
                                                      : reduceEq(d, depth);
    if (reduced && predicate.kind() == SymKind::Ne)
      reduced = ctx->logicalNot(reduced);
    return reduced ? reduced : predicate;
  }
  case SymKind::And:
  case SymKind::Or: {
    llvm::SmallVector<SymExpr, 4> arms;
    for (const SymTerm &term : predicate.terms())
      arms.push_back(reduce(term.expr, depth + 1));
    SymExpr result = predicate.kind() == SymKind::And ? ctx->logicalAnd(arms)
                                                      : ctx->logicalOr(arms);
    return result ? result : predicate;
  }
  default:
    return predicate;
  }
}

/// Sums in which every k·(e // c), c dividing k, is written (k/c)·(e - e % c);
/// null if there is none.
SymExpr FactBase::remaindersForQuotients(SymExpr d) {
  if (d.kind() != SymKind::Add)
    return {};
  for (const SymTerm &term : d.terms()) {
    if (term.expr.kind() != SymKind::FloorDiv)
      continue;
    SymExpr e = term.expr.terms()[0].expr, c = term.expr.terms()[1].expr;
    if (!isPlainConstant(c, 2) || term.k % c.constant() != 0)
      continue;
    int64_t k = term.k / c.constant();
    if (k == INT64_MIN || term.k == INT64_MIN)
      continue;
    return ctx->sum(0, {SymTerm{1, d}, SymTerm{-term.k, term.expr},
                        SymTerm{k, e}, SymTerm{-k, ctx->mod(e, c)}});
  }
  return {};
}

/// d <= 0, for one quotient of coefficient 1 or -1 in d, without it: the new d;
/// null if there is none.
SymExpr FactBase::isolateQuotient(SymExpr d) {
  SymTerm storage;
  for (const SymTerm &term : d.affine(storage).terms) {
    if (term.expr.kind() != SymKind::FloorDiv || (term.k != 1 && term.k != -1))
      continue;
    SymExpr e = term.expr.terms()[0].expr, c = term.expr.terms()[1].expr;
    if (computeBounds(c).lo < 1)
      continue;
    SymExpr rest = ctx->sum(0, {SymTerm{1, d}, SymTerm{-term.k, term.expr}});
    SymExpr scaled = ctx->mul(c, rest);
    // e // c <= -rest, or e // c >= rest.
    SymExpr result =
        term.k == 1
            ? ctx->sum(1, {SymTerm{1, e}, SymTerm{1, scaled}, SymTerm{-1, c}})
            : ctx->sum(0, {SymTerm{1, scaled}, SymTerm{-1, e}});
    if (result)
      return result;
  }
  return {};
}

/// d <= 0 with the first Min or Max of d replaced by its arguments, as a
/// conjunction or disjunction; null if d has none or too many.
SymExpr FactBase::splitExtremum(SymKind kind, SymExpr d, unsigned depth) {
  SymTerm storage;
  size_t arms = 1;
  const SymTerm *first = nullptr;
  SymExpr::Affine affine = d.affine(storage);
  for (const SymTerm &term : affine.terms) {
    if (term.expr.kind() != SymKind::Min && term.expr.kind() != SymKind::Max)
      continue;
    if (!first)
      first = &term;
    arms *= std::min(term.expr.terms().size(), kMaxArms);
    if (arms > kMaxArms)
      return {};
  }
  if (!first)
    return {};
  if (kind == SymKind::Eq)
    return ctx->logicalAnd(
        {reduceLe(d, depth + 1), reduceLe(ctx->scale(d, -1), depth + 1)});
  bool all = (first->expr.kind() == SymKind::Max) == (first->k > 0);
  llvm::SmallVector<SymExpr, 4> parts;
  for (const SymTerm &arg : first->expr.terms()) {
    SymExpr part =
        first->k == INT64_MIN
            ? SymExpr()
            : ctx->sum(0, {SymTerm{1, d}, SymTerm{-first->k, first->expr},
                           SymTerm{first->k, arg.expr}});
    parts.push_back(part ? reduceLe(part, depth + 1) : SymExpr());
  }
  return all ? ctx->logicalAnd(parts) : ctx->logicalOr(parts);
}

/// d ? 0 for a d all of whose terms have one factor in common; null if there is
/// none.
SymExpr FactBase::divideByFactor(SymKind kind, SymExpr d, unsigned depth) {
  SymTerm storage;
  SymExpr::Affine affine = d.affine(storage);
  if (affine.terms.empty() || affine.terms[0].expr.kind() != SymKind::Mul)
    return {};
  llvm::ArrayRef<SymTerm> factors = affine.terms[0].expr.terms();

  // x·y >= 1 (or == 1) of factors that are not negative.
  if (affine.terms.size() == 1 &&
      ((kind == SymKind::Le && affine.terms[0].k == -1 &&
        affine.constant == 1) ||
       (kind == SymKind::Eq && affine.constant == -1)) &&
      llvm::all_of(factors, [&](const SymTerm &factor) {
        return computeBounds(factor.expr).lo >= 0;
      })) {
    llvm::SmallVector<SymExpr, 4> parts;
    for (const SymTerm &factor : factors)
      parts.push_back(
          kind == SymKind::Le
              ? reduceLe(ctx->sum(1, SymTerm{-1, factor.expr}), depth + 1)
              : reduceEq(factor.expr - 1, depth + 1));
    return ctx->logicalAnd(parts);
  }
  if (affine.constant != 0)
    return {};

  for (const SymTerm &factor : factors) {
    bool common = llvm::all_of(affine.terms, [&](const SymTerm &term) {
      return term.expr == factor.expr ||
             (term.expr.kind() == SymKind::Mul &&
              llvm::any_of(term.expr.terms(), [&](const SymTerm &t) {
                return t.expr == factor.expr;
              }));
    });
    if (!common)
      continue;
    SymExpr rest = ctx->floorDiv(d, factor.expr);
    if (!rest || ctx->mul(rest, factor.expr) != d)
      continue;
    Interval sign = computeBounds(factor.expr);
    if (kind == SymKind::Eq) {
      SymExpr quotient = reduceEq(rest, depth + 1);
      if (!sign.contains(0))
        return quotient;
      return ctx->logicalOr({reduceEq(factor.expr, depth + 1), quotient});
    }
    if (sign.hi < 0)
      return reduceLe(ctx->scale(rest, -1), depth + 1);
    if (sign.lo >= 0) {
      SymExpr quotient = reduceLe(rest, depth + 1);
      if (sign.lo > 0)
        return quotient;
      return ctx->logicalOr({reduceEq(factor.expr, depth + 1), quotient});
    }
  }
  return {};
}

SymExpr FactBase::reduceLe(SymExpr d, unsigned depth) {
  SymExpr atom = d ? ctx->le(d, ctx->constant(0)) : SymExpr();
  if (!atom || atom.kind() != SymKind::Le || depth > kMaxDepth)
    return atom;
  d = atom.terms()[0].expr;
  if (SymExpr split = splitExtremum(SymKind::Le, d, depth))
    return split;
  if (SymExpr next = remaindersForQuotients(d))
    return reduceLe(next, depth + 1);
  if (SymExpr next = isolateQuotient(d))
    return reduceLe(next, depth + 1);
  if (SymExpr parts = divideByFactor(SymKind::Le, d, depth))
    return parts;
  return atom;
}

/// e % c == r with the leading coefficient of e made 1 and no constant in e;
/// the new predicate, or null if it is in that form.
SymExpr FactBase::solveCongruence(SymExpr d) {
  SymTerm storage, inner;
  SymExpr::Affine affine = d.affine(storage);
  if (affine.terms.size() != 1 || affine.terms[0].k != 1 ||
      affine.terms[0].expr.kind() != SymKind::Mod)
    return {};
  SymExpr e = affine.terms[0].expr.terms()[0].expr;
  SymExpr c = affine.terms[0].expr.terms()[1].expr;
  if (!isPlainConstant(c, 2) || affine.constant == INT64_MIN)
    return {};
  int64_t m = c.constant(), rest = -affine.constant;
  if (rest < 0 || rest >= m)
    return ctx->boolean(false);
  SymExpr::Affine x = e.affine(inner);
  int64_t lead = x.terms[0].k;
  if (std::gcd(lead, m) != 1 || m > INT32_MAX)
    return {};
  int64_t factor = inverse(lead, m);
  if (factor == 1 && x.constant == 0)
    return {};
  // Moduli below 2^31 keep these products in range.
  llvm::SmallVector<SymTerm, 4> terms;
  for (const SymTerm &term : x.terms)
    terms.push_back({floorMod(factor * floorMod(term.k, m), m), term.expr});
  int64_t value =
      floorMod(factor * floorMod(rest - floorMod(x.constant, m), m), m);
  SymExpr scaled = ctx->sum(0, terms);
  SymExpr remainder = scaled ? ctx->mod(scaled, c) : SymExpr();
  return remainder ? ctx->eq(remainder, ctx->constant(value)) : SymExpr();
}

SymExpr FactBase::reduceEq(SymExpr d, unsigned depth) {
  SymExpr atom = d ? ctx->eq(d, ctx->constant(0)) : SymExpr();
  if (!atom || atom.kind() != SymKind::Eq || depth > kMaxDepth)
    return atom;
  d = atom.terms()[0].expr;
  if (SymExpr split = splitExtremum(SymKind::Eq, d, depth))
    return split;
  if (SymExpr next = remaindersForQuotients(d))
    return reduceEq(next, depth + 1);
  SymTerm storage;
  SymExpr::Affine affine = d.affine(storage);
  if (affine.terms.size() == 1 &&
      affine.terms[0].expr.kind() == SymKind::FloorDiv && isolateQuotient(d))
    return ctx->logicalAnd(
        {reduceLe(d, depth + 1), reduceLe(ctx->scale(d, -1), depth + 1)});
  if (SymExpr congruence = solveCongruence(d))
    return congruence;
  if (SymExpr parts = divideByFactor(SymKind::Eq, d, depth))
    return parts;
  return atom;
}

} // namespace ft
