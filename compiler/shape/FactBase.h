//===- FactBase.h - What is known of symbols, and what follows -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_FACTBASE_H
#define FORETRACE_COMPILER_SHAPE_FACTBASE_H

#include "compiler/shape/Interval.h"
#include "compiler/shape/SymExpr.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <vector>

namespace ft {

/// Proved: true under every assignment that satisfies the facts and for which
/// the predicate has a value. Refuted: false under every such. Unknown: neither
/// was shown.
enum class Answer : uint8_t { Proved, Refuted, Unknown };

/// A set of facts about integer symbols, and the procedure that decides what
/// follows from them. Facts are only ever added; a scope is a copy.
///
/// Facts are kept in solved form, so that most questions are answered by
/// looking at the canonical form of what is asked:
///
///   equations      a = b + 1, 2a = 3b, (a + 1) % 4 = 0 are solved over the
///                  integers, with a fresh parameter where needed, and
///                  substituted: a := 3t, b := 2t makes a % 3 the constant 0
///   ranges         one interval for each symbol that is left
///   forms          an interval for each linear form that a fact bounds:
///                  a < b is the form a - b in ..-1, so is a < b + 7 asked of
///                  the same form
///   disequalities, disjunctions: as they are, dropped arm by arm
///
/// A question is reduced (substitution, division isolated: e//4 <= m is
/// e <= 4m + 3, Max(x, y) <= r is x <= r and y <= r), then decided by its
/// interval, then by known models (an assignment under which it is true and
/// one under which it is false settle that it is unknown), then by the integer
/// emptiness test of AffineSystem.h over the facts that share symbols with it.
///
/// Invariant: Proved and Refuted are never wrong, as integers without overflow.
/// Unknown is exact while the question and its facts are affine (division and
/// remainder by constants, Min, Max included) and under the caps.
///
/// Cost: a repeated question is one hash lookup; canonical and interval
/// answers take some hundred nanoseconds, the emptiness test microseconds.
/// README.md has the figures.
class FactBase {
public:
  /// A value for each declared symbol, by name.
  using Model = llvm::StringMap<int64_t>;

  explicit FactBase(SymContext &context) : ctx(&context) {}

  SymContext &context() const { return *ctx; }

  /// Makes a symbol known. `sample` is a value in the range at which all facts
  /// will be true as far as the caller knows: the hint.
  void declare(SymExpr symbol, Interval range, int64_t sample);

  /// Adds a fact. False, and everything is proved from then on, if it
  /// contradicts the others; a contradiction may also go unnoticed.
  bool assume(SymExpr predicate);
  bool contradictory() const { return inconsistent; }

  Answer query(SymExpr predicate);

  /// A range of the values of an integer expression; not always the smallest.
  Interval bounds(SymExpr e);
  /// The smallest range that can be proved, out to ±2^40: some hundred
  /// questions.
  Interval tightBounds(SymExpr e);
  /// The same value in terms of the symbols and parameters that are free.
  SymExpr solvedForm(SymExpr e) { return substituteSolved(e); }
  /// A predicate that is equivalent under the facts, in the form that questions
  /// are decided in: 2*(a//2) == a is a % 2 == 0.
  SymExpr normalForm(SymExpr predicate) { return reduce(predicate); }
  /// True for the symbols that solving equations made.
  bool isParameter(SymExpr symbol) const { return parameters.count(symbol); }

  /// An assignment of all declared symbols that satisfies all facts, if one is
  /// known.
  const Model *model() const { return models.empty() ? nullptr : &models[0]; }

  /// Questions that got as far as the emptiness test.
  struct Counters {
    uint64_t queries = 0;
    uint64_t remembered = 0;
    uint64_t byReduction = 0;
    uint64_t byInterval = 0;
    uint64_t byModels = 0;
    uint64_t byEmptiness = 0;
  };
  const Counters &counters() const { return count; }

private:
  friend class AffineSystem;

  // FactReduce.cpp
  SymExpr substituteSolved(SymExpr e);
  SymExpr rebuild(SymExpr e);
  SymExpr reduce(SymExpr predicate, unsigned depth = 0);
  SymExpr reduceLe(SymExpr d, unsigned depth);
  SymExpr reduceEq(SymExpr d, unsigned depth);
  SymExpr splitExtremum(SymKind kind, SymExpr d, unsigned depth);
  SymExpr isolateQuotient(SymExpr d);
  SymExpr remaindersForQuotients(SymExpr d);
  SymExpr solveCongruence(SymExpr d);
  SymExpr divideByFactor(SymKind kind, SymExpr d, unsigned depth);

  // FactBase.cpp
  bool add(SymExpr reduced);
  bool addEquation(SymExpr d);
  bool solve(SymExpr symbol, SymExpr value);
  bool narrow(SymExpr form, Interval range);
  bool exclude(SymExpr d);
  bool atEnd(SymExpr d);
  bool propagate();
  bool propagateForm(SymExpr form, Interval range);
  bool narrowAtom(SymExpr atom, Interval range);
  bool contradiction();
  SymExpr parameter(SymExpr definition);
  void changed();

  // FactQuery.cpp
  Answer answerNew(SymExpr predicate);
  Answer decide(SymExpr reduced);
  Answer decideByInterval(SymExpr atom);
  /// False if the predicate has no value there.
  static bool evaluate(const Model &model, SymExpr predicate, bool &value);
  Answer decideByEmptiness(SymExpr predicate, SymExpr reduced);
  bool isExactByInterval(SymExpr atom);
  Interval computeBounds(SymExpr e);
  bool addModel(Model model);
  void completeModel(Model &model);
  std::vector<Model> neighbours(SymExpr reduced);

  SymContext *ctx;
  bool inconsistent = false;

  /// Ranges of free symbols and parameters, in the order of declaration.
  llvm::MapVector<SymExpr, Interval> ranges;
  /// Symbol → its value in free symbols; no key occurs in a value.
  llvm::MapVector<SymExpr, SymExpr> solved;
  /// Symbols made here → what they stand for, in older symbols.
  llvm::MapVector<SymExpr, SymExpr> parameters;
  /// Linear forms without constant, of coprime coefficients and a positive
  /// leading one, that are not a plain symbol.
  llvm::MapVector<SymExpr, Interval> forms;
  /// Expressions that are not zero.
  llvm::SetVector<SymExpr> nonzero;
  llvm::SetVector<SymExpr> disjunctions;
  /// Symbols of the three above; valid if `relatedVersion` is `changes`.
  llvm::DenseSet<SymExpr> related;
  uint64_t relatedVersion = 0;
  /// What was assumed and declared, as it was given: what models satisfy.
  std::vector<SymExpr> assumed;
  llvm::MapVector<SymExpr, Interval> declared;
  std::vector<Model> models;

  llvm::DenseMap<SymExpr, SymExpr> substituted;
  llvm::DenseMap<SymExpr, Interval> boundsCache;
  struct Remembered {
    Answer answer;
    uint64_t changes;
  };
  llvm::DenseMap<SymExpr, Remembered> answers;
  /// Counts changes; unknown answers are good until the next.
  uint64_t changes = 1;
  Counters count;
};

/// Calls `visit` for every symbol of an expression, repeatedly for repeated
/// ones.
void forEachSymbol(SymExpr e, llvm::function_ref<void(SymExpr)> visit);

/// k·form + constant, the form as in FactBase; nullopt on overflow.
struct ScaledForm {
  SymExpr form;
  int64_t k;
  int64_t constant;
};
std::optional<ScaledForm> splitForm(SymExpr d);

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_FACTBASE_H
