//===- FactBase.cpp - Adding facts -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equations are solved over the integers (Knuth, The Art of Computer
// Programming, 4.5.2): one with a coefficient 1 or -1 gives that symbol; else
// the symbol x of the smallest coefficient m absorbs the multiples of m,
//
//   m·x + Σ(m·q_i + r_i)·y_i + (m·q + r) = 0,   t = x + Σ q_i·y_i + q
//   m·t + Σ r_i·y_i + r = 0                      with smaller coefficients
//
// until one is 1. Example: 2a = 3b. m = 2: t = a - 2b, 2t + b = 0, so
// b := -2t and a := -3t. A congruence e % c = r is the equation e = c·t + r.

#include "compiler/shape/FactBase.h"

#include "compiler/shape/SymNode.h"

#include "llvm/ADT/STLExtras.h"

namespace ft {

using namespace detail;

/// Passes over all facts in which one bound tightens another. Facts such as
/// a < b, b < a + 5 settle in two; contradictory ones would count up for ever.
static constexpr unsigned kMaxPasses = 6;

static bool mentions(SymExpr e, SymExpr symbol) {
  bool found = false;
  forEachSymbol(e, [&](SymExpr s) { found |= s == symbol; });
  return found;
}

void FactBase::changed() {
  ++changes;
  substituted.clear();
  boundsCache.clear();
}

bool FactBase::contradiction() {
  inconsistent = true;
  changed();
  return false;
}

void FactBase::declare(SymExpr symbol, Interval range, int64_t sample) {
  if (declared.count(symbol))
    return;
  declared.insert({symbol, range});
  ranges.insert({symbol, range});
  if (assumed.empty() && models.empty() && declared.size() == 1)
    models.emplace_back();
  if (!range.contains(sample))
    sample = range.lo != Interval::kMin ? range.lo : range.hi;
  for (Model &model : models)
    model[symbol.name()] = sample;
  changed();
  if (range.empty())
    contradiction();
  else if (range.isPoint())
    solve(symbol, ctx->constant(range.lo));
}

bool FactBase::assume(SymExpr predicate) {
  if (!predicate || inconsistent)
    return !inconsistent;
  assumed.push_back(predicate);
  llvm::erase_if(models, [&](const Model &model) {
    bool value = false;
    return !evaluate(model, predicate, value) || !value;
  });
  changed();
  return add(reduce(predicate)) && propagate();
}

bool FactBase::add(SymExpr reduced) {
  if (inconsistent)
    return false;
  if (!reduced)
    return true;
  switch (reduced.kind()) {
  case SymKind::Bool:
    return reduced.isTrue() || contradiction();
  case SymKind::And:
    // The first may have solved what the next mentions.
    for (const SymTerm &term : reduced.terms())
      if (!add(reduce(term.expr)))
        return false;
    return true;
  case SymKind::Or:
    disjunctions.insert(reduced);
    changed();
    return true;
  case SymKind::Eq:
    return addEquation(reduced.terms()[0].expr);
  case SymKind::Ne:
    return exclude(reduced.terms()[0].expr);
  case SymKind::Le: {
    std::optional<ScaledForm> split = splitForm(reduced.terms()[0].expr);
    if (!split || split->constant == INT64_MIN)
      return true; // a bound beyond 64 bits says nothing
    // k·form <= -constant
    std::optional<int64_t> end =
        checkedFloorDiv(-split->constant, std::abs(split->k));
    if (split->k > 0)
      return narrow(split->form, Interval::atMost(*end));
    end = checkedFloorDiv(split->constant, -split->k);
    int64_t up = *end + (floorMod(split->constant, -split->k) != 0);
    return narrow(split->form, Interval::atLeast(up));
  }
  default:
    return true;
  }
}

bool FactBase::narrow(SymExpr form, Interval range) {
  if (form.kind() == SymKind::Symbol) {
    auto it = ranges.find(form);
    Interval old = it == ranges.end() ? Interval() : it->second;
    Interval now = old.intersect(range);
    if (now == old)
      return true;
    ranges[form] = now;
    changed();
    if (now.empty())
      return contradiction();
    return !now.isPoint() || solve(form, ctx->constant(now.lo));
  }
  Interval old = computeBounds(form);
  Interval now = old.intersect(range);
  if (now == old)
    return true;
  if (now.empty())
    return contradiction();
  forms[form] = now;
  changed();
  if (now.isPoint())
    return addEquation(ctx->sub(form, ctx->constant(now.lo)));
  return true;
}

bool FactBase::exclude(SymExpr d) {
  std::optional<ScaledForm> split = splitForm(d);
  if (split && split->k == 1 && split->constant != INT64_MIN) {
    int64_t value = -split->constant;
    Interval range = computeBounds(split->form);
    if (range.isPoint() && range.lo == value)
      return contradiction();
    if (range.lo == value && value != INT64_MAX)
      return narrow(split->form, Interval::atLeast(value + 1));
    if (range.hi == value && value != INT64_MIN)
      return narrow(split->form, Interval::atMost(value - 1));
    if (!range.contains(value))
      return true;
  }
  nonzero.insert(d);
  changed();
  return true;
}

SymExpr FactBase::parameter(SymExpr definition) {
  SymExpr symbol = ctx->freshSymbol("_t");
  parameters.insert({symbol, definition});
  ranges.insert({symbol, computeBounds(definition)});
  return symbol;
}

bool FactBase::addEquation(SymExpr d) {
  if (inconsistent)
    return false;
  d = substituteSolved(d);
  SymExpr equation = d ? ctx->eq(d, ctx->constant(0)) : SymExpr();
  if (!equation || equation.kind() == SymKind::Bool)
    return !equation || equation.isTrue() || contradiction();
  d = equation.terms()[0].expr;
  SymTerm storage;
  SymExpr::Affine affine = d.affine(storage);

  // A congruence of symbols becomes an equation.
  if (affine.terms.size() == 1 && affine.terms[0].expr.kind() == SymKind::Mod &&
      affine.constant != INT64_MIN) {
    SymExpr e = affine.terms[0].expr.terms()[0].expr;
    SymExpr c = affine.terms[0].expr.terms()[1].expr;
    SymTerm inner;
    bool plain = llvm::all_of(e.affine(inner).terms, [](const SymTerm &t) {
      return t.expr.kind() == SymKind::Symbol;
    });
    if (c.isConst() && plain) {
      SymExpr difference = ctx->sum(affine.constant, SymTerm{1, e});
      SymExpr quotient = ctx->floorDiv(difference, c);
      if (quotient) {
        SymExpr t = parameter(quotient);
        return addEquation(
            ctx->sum(0, {SymTerm{1, difference}, SymTerm{-c.constant(), t}}));
      }
    }
  }

  // A symbol of coefficient 1 or -1 that occurs nowhere else: parameters
  // first, then the symbol that was declared last.
  const SymTerm *best = nullptr;
  size_t bestRank = 0;
  bool plain = true;
  for (const SymTerm &term : affine.terms) {
    plain &= term.expr.kind() == SymKind::Symbol;
    if (term.expr.kind() != SymKind::Symbol || (term.k != 1 && term.k != -1))
      continue;
    bool once = llvm::all_of(affine.terms, [&](const SymTerm &other) {
      return other.expr == term.expr || !mentions(other.expr, term.expr);
    });
    auto it = ranges.find(term.expr);
    if (!once || it == ranges.end())
      continue;
    size_t rank = it - ranges.begin() + 1;
    if (rank > bestRank) {
      best = &term;
      bestRank = rank;
    }
  }
  if (best) {
    SymExpr rest = ctx->sum(0, {SymTerm{1, d}, SymTerm{-best->k, best->expr}});
    SymExpr value = rest ? ctx->scale(rest, -best->k) : SymExpr();
    if (value)
      return solve(best->expr, value);
  }

  if (plain) {
    const SymTerm *least = &*llvm::min_element(
        affine.terms, [](const SymTerm &a, const SymTerm &b) {
          return std::abs(a.k) < std::abs(b.k);
        });
    int64_t m = std::abs(least->k), sign = least->k < 0 ? -1 : 1;
    if (m > 1 && m <= INT32_MAX) {
      llvm::SmallVector<SymTerm, 4> quotients, rests;
      bool fits = affine.constant != INT64_MIN;
      for (const SymTerm &term : affine.terms) {
        if (term.k == INT64_MIN) {
          fits = false;
          break;
        }
        int64_t k = sign * term.k;
        quotients.push_back({*checkedFloorDiv(k, m), term.expr});
        rests.push_back({floorMod(k, m), term.expr});
      }
      if (fits) {
        int64_t c = sign * affine.constant;
        SymExpr definition = ctx->sum(*checkedFloorDiv(c, m), quotients);
        if (definition) {
          SymExpr t = parameter(definition);
          rests.push_back({m, t});
          SymExpr symbol = least->expr;
          SymExpr value = ctx->sum(
              0, {SymTerm{1, t}, SymTerm{-1, definition}, SymTerm{1, symbol}});
          SymExpr remaining = ctx->sum(floorMod(c, m), rests);
          if (value && remaining)
            return solve(symbol, value) && addEquation(remaining);
        }
      }
    }
  }

  std::optional<ScaledForm> split = splitForm(d);
  if (split && split->k == 1 && split->constant != INT64_MIN) {
    Interval point = Interval::point(-split->constant);
    Interval old = computeBounds(split->form);
    if (old.intersect(point).empty())
      return contradiction();
    if (forms.lookup(split->form) != point || !forms.count(split->form)) {
      forms[split->form] = point;
      changed();
    }
  }
  return true;
}

bool FactBase::solve(SymExpr symbol, SymExpr value) {
  auto range = ranges.find(symbol);
  Interval limits = range == ranges.end() ? Interval() : range->second;
  ranges.erase(symbol);
  for (auto &[other, old] : solved)
    if (mentions(old, symbol)) {
      SymExpr next = ctx->substitute(old, [&](llvm::StringRef name) {
        return name == symbol.name() ? value : SymExpr();
      });
      // Too large to write: the old value stays right, only less is known.
      if (next)
        old = next;
    }
  solved[symbol] = value;
  changed();

  // Everything that mentions the symbol is added anew.
  llvm::SmallVector<SymExpr> again;
  SymExpr zero = ctx->constant(0);
  auto withRange = [&](SymExpr form, Interval r) {
    if (r.lo != Interval::kMin)
      again.push_back(ctx->le(ctx->constant(r.lo), form));
    if (r.hi != Interval::kMax)
      again.push_back(ctx->le(form, ctx->constant(r.hi)));
  };
  withRange(value, limits);
  forms.remove_if([&](auto &entry) {
    if (!mentions(entry.first, symbol))
      return false;
    withRange(entry.first, entry.second);
    return true;
  });
  nonzero.remove_if([&](SymExpr d) {
    if (!mentions(d, symbol))
      return false;
    again.push_back(ctx->ne(d, zero));
    return true;
  });
  disjunctions.remove_if([&](SymExpr d) {
    if (!mentions(d, symbol))
      return false;
    again.push_back(d);
    return true;
  });
  changed();
  for (SymExpr fact : again)
    if (fact && !add(reduce(fact)))
      return false;
  return !inconsistent;
}

//===----------------------------------------------------------------------===//
// Bounds that follow from bounds
//===----------------------------------------------------------------------===//

/// What `atom` being in `range` says of the symbols in it.
bool FactBase::narrowAtom(SymExpr atom, Interval range) {
  if (atom.kind() == SymKind::Symbol)
    return narrow(atom, range);
  if (atom.kind() != SymKind::Mul)
    return true;
  // f·rest in range, rest >= 1: f <= range.hi // rest.lo, and f is not below
  // range.lo / rest.hi.
  for (const SymTerm &factor : atom.terms()) {
    if (factor.k != 1 || factor.expr.kind() != SymKind::Symbol)
      continue;
    Interval rest = Interval::point(1);
    for (const SymTerm &other : atom.terms())
      if (other.expr != factor.expr)
        rest = rest * power(computeBounds(other.expr), other.k);
    if (rest.lo < 1)
      continue;
    Interval limits;
    if (range.hi != Interval::kMax && range.hi >= 0)
      limits.hi = range.hi / rest.lo;
    if (range.lo > 0)
      limits.lo = rest.hi == Interval::kMax ? 1 : (range.lo - 1) / rest.hi + 1;
    if (!narrow(factor.expr, limits))
      return false;
  }
  return true;
}

bool FactBase::propagateForm(SymExpr form, Interval range) {
  SymTerm storage;
  SymExpr::Affine affine = form.affine(storage);
  if (affine.terms.size() > 8)
    return true;
  for (const SymTerm &term : affine.terms) {
    // k·term = form - others
    Interval rest = range;
    for (const SymTerm &other : affine.terms)
      if (other.expr != term.expr)
        rest = rest + computeBounds(other.expr) * other.k * -1;
    if (rest.empty())
      return contradiction();
    Interval limits;
    int64_t k = term.k;
    if (k == INT64_MIN)
      continue;
    if (k < 0) {
      rest = rest * -1;
      k = -k;
    }
    if (rest.lo != Interval::kMin)
      limits.lo = *checkedFloorDiv(rest.lo, k) + (floorMod(rest.lo, k) != 0);
    if (rest.hi != Interval::kMax)
      limits.hi = *checkedFloorDiv(rest.hi, k);
    if (!narrowAtom(term.expr, limits))
      return false;
  }
  return true;
}

/// True if d != 0 takes away an end of the range of d, or says nothing.
bool FactBase::atEnd(SymExpr d) {
  Interval range = computeBounds(d);
  return range.lo == 0 || range.hi == 0 || !range.contains(0);
}

bool FactBase::propagate() {
  for (unsigned pass = 0; pass < kMaxPasses && !inconsistent; ++pass) {
    uint64_t before = changes;
    // Copies: narrowing may solve a symbol, which rewrites all of these. A form
    // that is gone by then still holds as it was written.
    auto formsNow = llvm::to_vector(forms);
    for (const auto &[form, range] : formsNow)
      if (forms.count(form) && !propagateForm(form, range))
        return false;
    auto nonzeroNow = llvm::to_vector(nonzero);
    for (SymExpr d : nonzeroNow) {
      SymExpr reduced = reduce(ctx->ne(d, ctx->constant(0)));
      bool news = reduced.kind() != SymKind::Ne ||
                  reduced.terms()[0].expr != d || atEnd(d);
      if (!news || !nonzero.remove(d))
        continue;
      changed();
      if (!add(reduced))
        return false;
    }
    auto disjunctionsNow = llvm::to_vector(disjunctions);
    for (SymExpr d : disjunctionsNow) {
      llvm::SmallVector<SymExpr, 4> arms;
      bool holds = false;
      SymExpr reduced = reduce(d);
      if (reduced.kind() == SymKind::Or) {
        for (const SymTerm &arm : reduced.terms()) {
          Answer answer = decide(arm.expr);
          holds |= answer == Answer::Proved;
          if (answer != Answer::Refuted)
            arms.push_back(arm.expr);
        }
        if (!holds)
          reduced = ctx->logicalOr(arms);
      }
      if (!holds && reduced == d)
        continue;
      if (!disjunctions.remove(d))
        continue;
      changed();
      if (!holds && !add(reduced))
        return false;
    }
    if (changes == before)
      break;
  }
  return !inconsistent;
}

} // namespace ft
