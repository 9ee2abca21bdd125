//===- AffineSystem.cpp - Emptiness of affine constraints ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/AffineSystem.h"

#include "compiler/shape/Elimination.h"
#include "compiler/shape/SymNode.h"

#include "mlir/Analysis/Presburger/Simplex.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace ft {

using namespace detail;
using mlir::presburger::Fraction;

/// Ends beyond this make rows of products that nothing else can use.
static constexpr int64_t kMaxEnd = int64_t(1) << 31;
/// Numbers beyond these end a search: they take more than 64 bits soon.
static constexpr int64_t kMaxDenominator = 1 << 24;
static constexpr int64_t kMaxCoordinate = int64_t(1) << 62;
/// Arms of one alternative, and rows of one arm.
static constexpr size_t kMaxArms = 32;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

unsigned AffineSystem::column(SymExpr atom) {
  auto [it, isNew] = columns.try_emplace(atom, atoms.size());
  unsigned index = it->second;
  if (isNew) {
    atoms.push_back(atom);
    if (atoms.size() <= kMaxColumns)
      describe(atom, index);
  }
  return index;
}

bool AffineSystem::accumulate(Row &row, SymExpr e, int64_t k) {
  if (!e)
    return false;
  SymTerm storage;
  SymExpr::Affine affine = e.affine(storage);
  std::optional<int64_t> scaled = checkedMul(affine.constant, k);
  std::optional<int64_t> total =
      scaled ? checkedAdd(row.constant, *scaled) : std::nullopt;
  if (!total)
    return false;
  row.constant = *total;
  for (const SymTerm &term : affine.terms) {
    std::optional<int64_t> factor = checkedMul(term.k, k);
    if (!factor)
      return false;
    if (term.expr.kind() == SymKind::Mod) {
      SymExpr a = term.expr.terms()[0].expr, b = term.expr.terms()[1].expr;
      if (b.isConst() || facts.bounds(b).lo >= 1) {
        SymExpr multiple = ctx.mul(b, ctx.floorDiv(a, b));
        if (*factor == INT64_MIN || !accumulate(row, a, *factor) ||
            !accumulate(row, multiple, -*factor))
          return false;
        continue;
      }
    }
    unsigned index = column(term.expr);
    auto *known =
        llvm::find_if(row.terms, [&](auto &t) { return t.first == index; });
    if (known == row.terms.end()) {
      row.terms.push_back({index, *factor});
      continue;
    }
    std::optional<int64_t> sum = checkedAdd(known->second, *factor);
    if (!sum)
      return false;
    known->second = *sum;
  }
  return true;
}

std::optional<AffineSystem::Row> AffineSystem::row(SymExpr e, bool equation) {
  Row result;
  result.equation = equation;
  if (!accumulate(result, e, 1))
    return std::nullopt;
  llvm::erase_if(result.terms, [](auto &t) { return t.second == 0; });
  // Integers: 2x - 4y + 3 >= 0 is x - 2y + 1 >= 0; 2x + 1 == 0 is false.
  uint64_t divisor = 0;
  for (auto [index, k] : result.terms)
    divisor = std::gcd(divisor, k < 0 ? -uint64_t(k) : uint64_t(k));
  if (divisor < 2 || divisor > INT64_MAX)
    return result;
  auto g = static_cast<int64_t>(divisor);
  if (equation && floorMod(result.constant, g) != 0) {
    result.terms.clear();
    result.constant = 1;
    return result;
  }
  result.constant = *checkedFloorDiv(result.constant, g);
  for (auto &[index, k] : result.terms)
    k /= g;
  return result;
}

void AffineSystem::requireAtLeastZero(SymExpr e) {
  if (std::optional<Row> r = row(e, false))
    rows.push_back(std::move(*r));
}

void AffineSystem::requireRange(SymExpr e, Interval range) {
  if (range.isPoint()) {
    if (std::optional<Row> r = row(e - range.lo, true))
      rows.push_back(std::move(*r));
    return;
  }
  if (range.lo != Interval::kMin)
    requireAtLeastZero(e - range.lo);
  if (range.hi != Interval::kMax)
    requireAtLeastZero(ctx.sub(ctx.constant(range.hi), e));
}

//===----------------------------------------------------------------------===//
// What columns mean
//===----------------------------------------------------------------------===//

void AffineSystem::describeProduct(SymExpr product) {
  for (const SymTerm &factor : product.terms()) {
    SymExpr x = factor.expr;
    SymExpr y = ctx.floorDiv(product, x);
    if (!y || y == product)
      continue;
    Interval rx = facts.bounds(x), ry = facts.bounds(y);
    auto usable = [](int64_t end) { return end > -kMaxEnd && end < kMaxEnd; };
    // (x - end of x)·(y - end of y), whose sign is known.
    for (int64_t ex : {rx.lo, rx.hi})
      for (int64_t ey : {ry.lo, ry.hi}) {
        if (!usable(ex) || !usable(ey) || (ex == rx.hi && rx.isPoint()) ||
            (ey == ry.hi && ry.isPoint()))
          continue;
        bool positive = (ex == rx.lo) == (ey == ry.lo);
        SymExpr expanded = ctx.sum(
            ex * ey, {SymTerm{1, product}, SymTerm{-ey, x}, SymTerm{-ex, y}});
        requireAtLeastZero(positive ? expanded : ctx.scale(expanded, -1));
      }
    if (product.terms().size() == 2 && factor.k == 1)
      break; // the other factor gives the same
  }
}

void AffineSystem::describe(SymExpr atom, unsigned index) {
  llvm::ArrayRef<SymTerm> terms = atom.terms();
  switch (atom.kind()) {
  case SymKind::FloorDiv: {
    SymExpr a = terms[0].expr, b = terms[1].expr;
    if (!b.isConst())
      requireRange(atom, facts.bounds(atom));
    if (facts.bounds(b).lo < 1)
      return;
    SymExpr rest = ctx.sub(a, ctx.mul(b, atom));
    requireAtLeastZero(rest);
    requireAtLeastZero(ctx.sum(-1, {SymTerm{1, b}, SymTerm{-1, rest}}));
    return;
  }
  case SymKind::Min:
  case SymKind::Max: {
    llvm::SmallVector<SymExpr, 4> arms;
    int64_t sign = atom.kind() == SymKind::Max ? 1 : -1;
    SymExpr zero = ctx.constant(0);
    for (const SymTerm &term : terms) {
      SymExpr above =
          ctx.sum(0, {SymTerm{sign, atom}, SymTerm{-sign, term.expr}});
      requireAtLeastZero(above);
      arms.push_back(ctx.le(above, zero));
    }
    if (std::optional<Alternative> choice = encode(ctx.logicalOr(arms)))
      alternatives.push_back(std::move(*choice));
    return;
  }
  case SymKind::Mul:
    requireRange(atom, facts.bounds(atom));
    describeProduct(atom);
    return;
  default:
    requireRange(atom, facts.bounds(atom));
  }
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

/// As alternatives of conjunctions. Nothing if it cannot be said: it is left
/// out then.
std::optional<AffineSystem::Alternative>
AffineSystem::encode(SymExpr predicate) {
  if (!predicate)
    return std::nullopt;
  switch (predicate.kind()) {
  case SymKind::Bool:
    // No arm is false; one without rows is true.
    return predicate.isTrue() ? Alternative(1) : Alternative();
  case SymKind::Le:
  case SymKind::Eq: {
    bool equation = predicate.kind() == SymKind::Eq;
    std::optional<Row> r =
        row(ctx.scale(predicate.terms()[0].expr, -1), equation);
    if (!r)
      return std::nullopt;
    return Alternative{Rows{std::move(*r)}};
  }
  case SymKind::Ne: {
    SymExpr d = predicate.terms()[0].expr;
    std::optional<Row> above = row(d - 1, false);
    std::optional<Row> below = row(ctx.sum(-1, SymTerm{-1, d}), false);
    if (!above || !below)
      return std::nullopt;
    return Alternative{Rows{std::move(*above)}, Rows{std::move(*below)}};
  }
  case SymKind::Or: {
    Alternative all;
    for (const SymTerm &term : predicate.terms()) {
      std::optional<Alternative> part = encode(term.expr);
      if (!part || all.size() + part->size() > kMaxArms)
        return std::nullopt;
      all.append(part->begin(), part->end());
    }
    return all;
  }
  case SymKind::And: {
    Alternative all(1);
    for (const SymTerm &term : predicate.terms()) {
      std::optional<Alternative> part = encode(term.expr);
      if (!part || all.size() * part->size() > kMaxArms)
        continue;
      Alternative product;
      for (const Rows &left : all)
        for (const Rows &right : *part) {
          product.push_back(left);
          product.back().append(right.begin(), right.end());
        }
      all = std::move(product);
    }
    return all;
  }
  default:
    return std::nullopt;
  }
}

void AffineSystem::require(SymExpr predicate) {
  if (predicate && predicate.kind() == SymKind::And) {
    for (const SymTerm &term : predicate.terms())
      require(term.expr);
    return;
  }
  std::optional<Alternative> choice = encode(predicate);
  if (!choice)
    return;
  if (choice->size() == 1)
    rows.insert(rows.end(), choice->front().begin(), choice->front().end());
  else
    alternatives.push_back(std::move(*choice));
}

void AffineSystem::gatherFacts(SymExpr hypothesis) {
  llvm::DenseSet<SymExpr> reached;
  auto reach = [&](SymExpr e) {
    forEachSymbol(e, [&](SymExpr s) { reached.insert(s); });
  };
  reach(hypothesis);
  auto touches = [&](SymExpr e) {
    bool found = false;
    forEachSymbol(e, [&](SymExpr s) { found |= reached.contains(s); });
    return found;
  };
  llvm::DenseSet<SymExpr> taken;
  llvm::SmallVector<SymExpr> kept;
  for (bool grew = true; grew;) {
    grew = false;
    auto visit = [&](SymExpr e, SymExpr fact) {
      if (taken.contains(fact) || !touches(e))
        return;
      taken.insert(fact);
      reach(e);
      kept.push_back(fact);
      grew = true;
    };
    SymExpr zero = ctx.constant(0);
    for (const auto &[form, range] : facts.forms) {
      if (range.lo != Interval::kMin)
        visit(form, ctx.le(ctx.constant(range.lo), form));
      if (range.hi != Interval::kMax)
        visit(form, ctx.le(form, ctx.constant(range.hi)));
    }
    for (SymExpr d : facts.nonzero)
      visit(d, ctx.ne(d, zero));
    for (SymExpr d : facts.disjunctions)
      visit(d, d);
  }
  for (SymExpr fact : kept)
    require(fact);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

void AffineSystem::add(Simplex &simplex, const Row &row) const {
  if (simplex.isEmpty())
    return;
  llvm::SmallVector<llvm::DynamicAPInt, 16> dense(atoms.size() + 1);
  for (auto [index, k] : row.terms)
    dense[index] = llvm::DynamicAPInt(k); // its = takes an int only
  dense.back() = llvm::DynamicAPInt(row.constant);
  if (row.equation)
    simplex.addEquality(dense);
  else
    simplex.addInequality(dense);
}

/// A point over the rationals, split off if it is none of integers (that
/// coordinate rounded down and up) or satisfies no arm of an alternative (each
/// arm in turn).
AffineSystem::Result AffineSystem::branch(Simplex &simplex, Point &point) {
  if (simplex.isEmpty())
    return Empty;
  if (++branches > kMaxBranches)
    return GaveUp;
  std::optional<llvm::SmallVector<Fraction, 8>> sample =
      simplex.getRationalSample();
  if (!sample)
    return GaveUp;
  auto attempt = [&](llvm::ArrayRef<Row> more) {
    unsigned snapshot = simplex.getSnapshot();
    for (const Row &row : more)
      add(simplex, row);
    Result result = branch(simplex, point);
    simplex.rollback(snapshot);
    return result;
  };

  Point found;
  for (auto [index, value] : llvm::enumerate(*sample)) {
    llvm::DynamicAPInt down = floor(value);
    if (down < -kMaxCoordinate || down > kMaxCoordinate ||
        value.den > kMaxDenominator)
      return GaveUp;
    auto below = static_cast<int64_t>(down);
    found.push_back(below);
    if (value.num % value.den == 0)
      continue;
    unsigned column = index;
    Result result = attempt(Row{{{column, -1}}, below, false});
    return result == Empty ? attempt(Row{{{column, 1}}, -below - 1, false})
                           : result;
  }
  for (const Alternative &alternative : alternatives) {
    if (satisfies(found, alternative))
      continue;
    for (const Rows &arm : alternative)
      if (Result result = attempt(arm); result != Empty)
        return result;
    return Empty;
  }
  point = std::move(found);
  return Sample;
}

bool AffineSystem::isRefuted(llvm::ArrayRef<const Row *> extra) {
  llvm::SmallVector<LinearRow, 16> system;
  auto add = [&](const Row &row) {
    LinearRow &dense = system.emplace_back();
    dense.coefficients.assign(atoms.size(), 0);
    for (auto [index, k] : row.terms)
      dense.coefficients[index] = k;
    dense.constant = row.constant;
    dense.equation = row.equation;
  };
  for (const Row &row : rows)
    add(row);
  for (const Row *row : extra)
    add(*row);
  return refuteByElimination(system, budget);
}

bool AffineSystem::satisfies(llvm::ArrayRef<int64_t> point,
                             const Alternative &alternative) {
  auto holds = [&](const Row &row) {
    __int128 value = row.constant;
    for (auto [index, k] : row.terms)
      value += static_cast<__int128>(k) * point[index];
    return row.equation ? value == 0 : value >= 0;
  };
  return llvm::any_of(
      alternative, [&](const Rows &arm) { return llvm::all_of(arm, holds); });
}

/// The rows and `extra` for every choice of arms of the alternatives from
/// `next` on.
bool AffineSystem::allRefuted(llvm::SmallVectorImpl<const Row *> &extra,
                              size_t next) {
  if (isRefuted(extra))
    return true;
  if (next >= alternatives.size() || ++steps > kMaxSteps)
    return false;
  size_t mark = extra.size();
  for (const Rows &arm : alternatives[next]) {
    for (const Row &r : arm)
      extra.push_back(&r);
    bool refuted = allRefuted(extra, next + 1);
    extra.truncate(mark);
    if (!refuted)
      return false;
  }
  return true;
}

AffineSystem::Result AffineSystem::solve(SymExpr hypothesis,
                                         FactBase::Model &sample) {
  if (!hypothesis)
    return GaveUp;
  if (hypothesis.isFalse())
    return Empty;
  require(hypothesis);
  gatherFacts(hypothesis);
  if (atoms.size() > kMaxColumns || rows.size() > kMaxRows)
    return GaveUp;
  Point point;
  Result result = GaveUp;
  if (atoms.size() <= kMaxSimplexColumns && rows.size() <= kMaxSimplexRows) {
    Simplex simplex(atoms.size());
    for (const Row &row : rows)
      add(simplex, row);
    result = branch(simplex, point);
  }
  if (result == GaveUp) {
    llvm::SmallVector<const Row *> extra;
    result = allRefuted(extra, 0) ? Empty : GaveUp;
  }
  if (result == Sample)
    for (auto [atom, value] : llvm::zip(atoms, point))
      if (atom.kind() == SymKind::Symbol)
        sample[atom.name()] = value;
  return result;
}

} // namespace ft
