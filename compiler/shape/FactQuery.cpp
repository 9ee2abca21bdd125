//===- FactQuery.cpp - Deciding what follows from facts --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/AffineSystem.h"
#include "compiler/shape/FactBase.h"
#include "compiler/shape/SymNode.h"

#include "llvm/ADT/STLExtras.h"

namespace ft {

using namespace detail;

/// Models that are kept: each settles another kind of question.
static constexpr size_t kMaxModels = 8;
/// Candidates that are tried before the emptiness test.
static constexpr size_t kMaxNeighbours = 8;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Interval FactBase::bounds(SymExpr e) {
  if (!e || e.isPredicate())
    return {};
  SymExpr free = substituteSolved(e);
  Interval range = computeBounds(e);
  return free && free != e ? computeBounds(free).intersect(range) : range;
}

Interval FactBase::computeBounds(SymExpr e) {
  switch (e.kind()) {
  case SymKind::Const:
    return Interval::point(e.constant());
  case SymKind::Symbol: {
    auto it = ranges.find(e);
    if (it != ranges.end())
      return it->second;
    auto value = solved.find(e);
    return value == solved.end() ? Interval() : computeBounds(value->second);
  }
  default:
    break;
  }
  auto it = boundsCache.find(e);
  if (it != boundsCache.end())
    return it->second;
  llvm::ArrayRef<SymTerm> terms = e.terms();
  auto sub = [&](size_t i) { return computeBounds(terms[i].expr); };
  Interval result;
  switch (e.kind()) {
  case SymKind::Add:
    result = Interval::point(e.constant());
    for (size_t i = 0; i < terms.size(); ++i)
      result = result + sub(i) * terms[i].k;
    break;
  case SymKind::Mul:
    result = Interval::point(1);
    for (size_t i = 0; i < terms.size(); ++i)
      result = result * power(sub(i), terms[i].k);
    break;
  case SymKind::Pow:
    if (sub(0).lo >= 1)
      result = Interval::atLeast(1);
    break;
  case SymKind::FloorDiv:
    result = floorDiv(sub(0), sub(1));
    break;
  case SymKind::Mod:
    result = mod(sub(0), sub(1));
    break;
  case SymKind::Min:
  case SymKind::Max:
    result = sub(0);
    for (size_t i = 1; i < terms.size(); ++i)
      result = e.kind() == SymKind::Min ? minimum(result, sub(i))
                                        : maximum(result, sub(i));
    break;
  default:
    return {};
  }
  if (!forms.empty())
    if (std::optional<ScaledForm> split = splitForm(e)) {
      auto known = forms.find(split->form);
      if (known != forms.end())
        result = result.intersect(known->second * split->k +
                                  Interval::point(split->constant));
    }
  boundsCache[e] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

Answer FactBase::query(SymExpr predicate) {
  ++count.queries;
  if (!predicate || !predicate.isPredicate())
    return Answer::Unknown;
  if (predicate.kind() == SymKind::Bool)
    return predicate.isTrue() ? Answer::Proved : Answer::Refuted;
  if (inconsistent)
    return Answer::Proved;
  auto it = answers.find(predicate);
  if (it != answers.end() &&
      (it->second.answer != Answer::Unknown || it->second.changes == changes)) {
    ++count.remembered;
    return it->second.answer;
  }
  Answer answer = answerNew(predicate);
  answers[predicate] = {answer, changes};
  return answer;
}

Answer FactBase::answerNew(SymExpr predicate) {
  // Most comparisons are decided as they stand.
  bool isAtom =
      predicate.kind() != SymKind::And && predicate.kind() != SymKind::Or;
  if (isAtom && substituteSolved(predicate.terms()[0].expr) ==
                    predicate.terms()[0].expr) {
    Answer answer = decideByInterval(predicate);
    if (answer != Answer::Unknown || isExactByInterval(predicate)) {
      ++count.byInterval;
      return answer;
    }
  }
  SymExpr reduced = reduce(predicate);
  Answer answer = decide(reduced);
  if (reduced.kind() == SymKind::Bool)
    ++count.byReduction;
  else if (answer != Answer::Unknown || isExactByInterval(reduced))
    ++count.byInterval;
  else
    answer = decideByEmptiness(predicate, reduced);
  return answer;
}

static Answer negate(Answer answer) {
  return answer == Answer::Proved    ? Answer::Refuted
         : answer == Answer::Refuted ? Answer::Proved
                                     : Answer::Unknown;
}

/// Without the emptiness test.
Answer FactBase::decide(SymExpr reduced) {
  switch (reduced.kind()) {
  case SymKind::Bool:
    return reduced.isTrue() ? Answer::Proved : Answer::Refuted;
  case SymKind::And:
  case SymKind::Or: {
    // One arm that says no refutes a conjunction; proves, for a disjunction.
    Answer decisive =
        reduced.kind() == SymKind::And ? Answer::Refuted : Answer::Proved;
    bool known = true;
    for (const SymTerm &term : reduced.terms()) {
      Answer answer = decide(term.expr);
      if (answer == decisive)
        return answer;
      known &= answer != Answer::Unknown;
    }
    if (known)
      return negate(decisive);
    return disjunctions.contains(reduced) ? Answer::Proved : Answer::Unknown;
  }
  default:
    return decideByInterval(reduced);
  }
}

Answer FactBase::decideByInterval(SymExpr atom) {
  SymExpr d = atom.terms()[0].expr;
  Interval range = computeBounds(d);
  // No value at all: the facts contradict each other, or d is never defined.
  if (range.empty())
    return Answer::Unknown;
  if (atom.kind() == SymKind::Le)
    return range.hi <= 0  ? Answer::Proved
           : range.lo > 0 ? Answer::Refuted
                          : Answer::Unknown;
  Answer isZero = Answer::Unknown;
  if (!range.contains(0) || nonzero.contains(d))
    isZero = Answer::Refuted;
  else if (range.isPoint())
    isZero = Answer::Proved;
  return atom.kind() == SymKind::Eq ? isZero : negate(isZero);
}

/// True if "unknown by interval" is the whole truth: a comparison of unrelated
/// symbols, each of which takes every value of its range independently.
bool FactBase::isExactByInterval(SymExpr atom) {
  if (atom.kind() != SymKind::Le && atom.kind() != SymKind::Eq &&
      atom.kind() != SymKind::Ne)
    return false;
  if (relatedVersion != changes) {
    related.clear();
    auto note = [&](SymExpr s) { related.insert(s); };
    for (const auto &[form, range] : forms)
      forEachSymbol(form, note);
    for (SymExpr d : nonzero)
      forEachSymbol(d, note);
    for (SymExpr d : disjunctions)
      forEachSymbol(d, note);
    relatedVersion = changes;
  }
  SymTerm storage;
  return llvm::all_of(
      atom.terms()[0].expr.affine(storage).terms, [&](const SymTerm &term) {
        return term.expr.kind() == SymKind::Symbol &&
               !related.contains(term.expr) &&
               (atom.kind() == SymKind::Le || term.k == 1 || term.k == -1);
      });
}

Interval FactBase::tightBounds(SymExpr expr) {
  Interval range = bounds(expr);
  if (!expr || range.empty())
    return range;
  auto isTrue = [&](SymExpr p) { return query(p) == Answer::Proved; };
  // The largest v with expr >= v proved, by doubling steps and halving them.
  auto raise = [&](SymExpr e, int64_t from, int64_t limit) {
    auto proved = [&](int64_t v) {
      return isTrue(ctx->ge(e, ctx->constant(v)));
    };
    int64_t step = 1, low = from;
    while (low <= limit - step && proved(low + step)) {
      low += step;
      step *= 2;
    }
    for (; step > 0; step /= 2)
      if (low <= limit - step && proved(low + step))
        low += step;
    return low;
  };
  constexpr int64_t kFar = int64_t(1) << 40;
  auto lower = [&](SymExpr e, Interval r) {
    if (r.lo < -kFar && !isTrue(ctx->ge(e, ctx->constant(-kFar))))
      return r.lo;
    return raise(e, std::max(r.lo, -kFar), std::min(r.hi, kFar));
  };
  range.lo = lower(expr, range);
  int64_t below = lower(-expr, range * -1);
  if (below != Interval::kMin)
    range.hi = -below;
  return range;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static auto lookup(const FactBase::Model &model) {
  return [&model](llvm::StringRef name, int64_t &number) {
    auto it = model.find(name);
    if (it == model.end())
      return false;
    number = it->second;
    return true;
  };
}

bool FactBase::evaluate(const Model &model, SymExpr e, bool &value) {
  SymValue v = SymContext::evaluate(e, lookup(model));
  value = v.value != 0;
  return bool(v);
}

bool FactBase::addModel(Model model) {
  for (const auto &[symbol, range] : declared) {
    auto it = model.find(symbol.name());
    if (it == model.end() || !range.contains(it->second))
      return false;
  }
  bool value = false;
  for (SymExpr fact : assumed)
    if (!evaluate(model, fact, value) || !value)
      return false;
  if (models.size() >= kMaxModels)
    models.erase(models.begin() + 1);
  models.push_back(std::move(model));
  return true;
}

/// Gives every declared symbol a value, from those of some free symbols.
void FactBase::completeModel(Model &model) {
  Model base;
  if (!models.empty())
    base = models[0];
  auto valueOf = [](const Model &from, SymExpr e, int64_t fallback) {
    SymValue v = SymContext::evaluate(e, lookup(from));
    return v ? v.value : fallback;
  };
  for (const auto &[symbol, definition] : parameters)
    if (!base.count(symbol.name()))
      base[symbol.name()] = valueOf(base, definition, 0);
  for (const auto &[symbol, range] : ranges) {
    int64_t nearest = range.lo > 0 ? range.lo : range.hi < 0 ? range.hi : 0;
    if (!model.count(symbol.name()))
      model[symbol.name()] = valueOf(base, symbol, nearest);
  }
  for (const auto &[symbol, value] : solved)
    model[symbol.name()] = valueOf(model, value, 0);
}

/// Assignments near the first model in which a symbol of the question takes
/// another value: where the question changes its answer, or an end of the
/// range. They may satisfy the facts or not.
std::vector<FactBase::Model> FactBase::neighbours(SymExpr reduced) {
  std::vector<Model> result;
  if (models.empty() ||
      (reduced.kind() != SymKind::Le && reduced.kind() != SymKind::Eq &&
       reduced.kind() != SymKind::Ne))
    return result;
  Model base;
  completeModel(base);
  SymTerm storage;
  SymExpr d = reduced.terms()[0].expr;
  SymValue now = SymContext::evaluate(d, lookup(base));
  for (const SymTerm &term : d.affine(storage).terms) {
    auto range = ranges.find(term.expr);
    if (range == ranges.end() || !now || term.k == INT64_MIN)
      continue;
    // d is linear in the symbol: zero there, one beyond, one before.
    int64_t value = base.lookup(term.expr.name());
    std::optional<int64_t> zero =
        checkedSub(value, *checkedFloorDiv(now.value, term.k));
    for (int64_t step : {0, 1, -1}) {
      std::optional<int64_t> next =
          zero ? checkedAdd(*zero, step) : std::nullopt;
      if (!next || *next == value || !range->second.contains(*next))
        continue;
      Model candidate;
      for (const auto &[symbol, limits] : ranges)
        candidate[symbol.name()] = base.lookup(symbol.name());
      candidate[term.expr.name()] = *next;
      completeModel(candidate);
      result.push_back(std::move(candidate));
    }
    if (result.size() >= kMaxNeighbours)
      break;
  }
  return result;
}

Answer FactBase::decideByEmptiness(SymExpr predicate, SymExpr reduced) {
  bool canHold = false, canFail = false;
  auto note = [&](const Model &model) {
    bool value = false;
    if (evaluate(model, predicate, value))
      (value ? canHold : canFail) = true;
  };
  for (const Model &model : models)
    note(model);
  if (canHold != canFail)
    for (Model &candidate : neighbours(reduced))
      if (!(canHold && canFail) && addModel(std::move(candidate)))
        note(models.back());
  if (canHold && canFail) {
    ++count.byModels;
    return Answer::Unknown;
  }
  ++count.byEmptiness;
  auto impossible = [&](SymExpr hypothesis) {
    AffineSystem system(*this);
    Model sample;
    AffineSystem::Result result = system.solve(hypothesis, sample);
    if (result == AffineSystem::Empty)
      return true;
    if (result == AffineSystem::Sample) {
      completeModel(sample);
      if (addModel(std::move(sample)))
        note(models.back());
    }
    return false;
  };
  if (!canFail && impossible(ctx->logicalNot(reduced)))
    return Answer::Proved;
  if (!canHold && impossible(reduced))
    return Answer::Refuted;
  return Answer::Unknown;
}

} // namespace ft
