//===- ShapeEnv.h - Symbols, facts, guards of one program ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_SHAPEENV_H
#define FORETRACE_COMPILER_SHAPE_SHAPEENV_H

#include "compiler/shape/FactBase.h"

#include <memory>
#include <string>

namespace ft {

/// Who asked: the op and its source line, both for people to read; either may
/// be empty.
struct Provenance {
  std::string op;
  std::string source;
};

/// What a symbol stands for.
struct SymbolInfo {
  SymExpr expr;
  /// A size of an input, with a value in the example (`hint`); otherwise a
  /// number that an op reads from data, made by `origin`.
  bool backed = true;
  /// As the user declared it, or empty.
  std::string userName;
  /// Backed: which dim of which input; -1: the input is the number itself.
  std::string input;
  int64_t dim = -1;
  /// Without one no guard speaks of the symbol.
  std::optional<int64_t> hint;
  Interval range = Interval::atLeast(0);
  Provenance origin;

  /// The hint, or else a number of the range.
  int64_t sample() const;
};

/// A condition that the facts did not decide and that the program relies on.
/// Entry guards speak of sizes of inputs and are checked before a call;
/// assertions speak of data and are checked where `origin` runs.
struct Guard {
  /// "g0", "g1", … for entry guards, "a0", … for assertions.
  std::string id;
  /// What is checked: `asked` if `condition`.
  SymExpr predicate;
  /// What the op asked, or the same said shorter: a % 2 == 0 for
  /// 2*(a//2) == a, a <= 8 for Min(a, 8) == a.
  SymExpr asked;
  /// True outside of regions.
  SymExpr condition;
  bool atRunTime = false;
  Provenance origin;
  /// Other cases in which the call would have worked (ShapeEnv::choose), given
  /// up for this one.
  std::vector<SymExpr> instead;
};

/// A guard and whether the others make it superfluous.
struct GuardStatus {
  const Guard *guard = nullptr;
  bool required = true;
  /// For an implied one: guards that imply it together with what the user
  /// declared (none: that alone does).
  llvm::SmallVector<const Guard *, 2> impliedBy;
};

struct Decision {
  enum How : uint8_t {
    Proved,
    Refuted,
    /// A guard was added; `value` is how the example decides.
    Guarded,
    /// An assertion was added that the predicate holds.
    Asserted,
    /// Nothing was added: the predicate is null, reads data where that is not
    /// allowed, or has no value at the hints (overflow, division by zero).
    Undecided
  };
  How how = Undecided;
  bool value = false;
  /// Guarded, Asserted: the guard.
  const Guard *guard = nullptr;
  explicit operator bool() const { return how != Undecided; }
};

/// The symbolic sizes of one program, and every question about them.
///
///   ShapeEnv env(ctx);
///   SymExpr a = env.addInputSize("s0", {.input = "x", .dim = 0, .hint = 8,
///                                       .range = Interval::atLeast(0)});
///   env.query(ctx.ge(a, ctx.constant(0)))        // Proved
///   env.decide(ctx.eq(ctx.mod(a, two), zero), {"view", "model.py:12"})
///       // guard g0: s0 % 2 == 0, true at the hint
///   env.query(ctx.eq(ctx.mod(a * 3, six), zero)) // Proved from now on
///
/// `query` changes nothing that can be seen; only `decide` adds guards. 0 and 1
/// are sizes like others: no range starts at 2 unless the caller says so.
class ShapeEnv {
public:
  explicit ShapeEnv(SymContext &context);
  ShapeEnv(const ShapeEnv &) = delete;
  ShapeEnv &operator=(const ShapeEnv &) = delete;

  SymContext &context() const { return ctx; }

  //===--- Symbols --------------------------------------------------------===//
  /// A size of an input. `info.expr` and `info.backed` are set here. A second
  /// symbol of one name is the first; its info stays.
  SymExpr addInputSize(llvm::StringRef name, SymbolInfo info);
  /// A number read from data by `origin`: of a fresh name u0, u1, …, or of
  /// `name`.
  SymExpr addUnbacked(Interval range, Provenance origin,
                      llvm::StringRef name = "");
  const SymbolInfo *symbol(SymExpr expr) const;
  llvm::ArrayRef<SymbolInfo> symbols() const { return infos; }
  bool isBacked(SymExpr expr) const;
  /// The value at the hints, if it is made of sizes of inputs and has one.
  std::optional<int64_t> hint(SymExpr expr) const;

  //===--- Facts ----------------------------------------------------------===//
  enum class FactKind : uint8_t { Declared, Guard, Assertion, Region };
  struct Fact {
    SymExpr predicate;
    FactKind kind;
    Provenance origin;
  };
  /// A relation that holds by declaration; the caller checks it at entry. False
  /// if it contradicts what is known.
  bool declare(SymExpr predicate, Provenance origin);
  /// Everything that is assumed in the current region, in order.
  llvm::ArrayRef<Fact> facts() const { return scopes.back().facts; }
  /// True if no input satisfies all facts (as far as that was noticed).
  bool contradictory() const { return current().contradictory(); }

  /// Enters a region that runs if `condition` holds (true if data decides, such
  /// as a branch of a cond). Facts asserted inside end with it; guards outlive
  /// it as "condition implies guard".
  void enterRegion(SymExpr condition, Provenance origin);
  void leaveRegion();
  /// Inside of one, what is proved may not hold behind it.
  bool inRegion() const { return scopes.size() > 1; }

  //===--- Questions ------------------------------------------------------===//
  Answer query(SymExpr predicate) { return current().query(predicate); }
  bool isTrue(SymExpr p) { return query(p) == Answer::Proved; }
  Interval bounds(SymExpr expr) { return current().bounds(expr); }
  /// The smallest interval that can be proved: slower than bounds.
  Interval tightBounds(SymExpr expr) { return current().tightBounds(expr); }
  /// An expression of the same symbols that is equal under the facts and
  /// simpler: Max(0, v - Min(100, u)) is v - u if 0 <= u <= v <= 100.
  SymExpr simplify(SymExpr expr);

  /// Decides, and makes sure that the answer stays right: see Decision. A
  /// predicate on data that is neither proved nor refuted is asserted.
  Decision decide(SymExpr predicate, const Provenance &origin);
  /// The same for a branch: one that data decides is Undecided instead.
  Decision branch(SymExpr predicate, const Provenance &origin);
  /// For shortcuts that may be missed: undecided by data is `fallback`, and
  /// nothing is asserted.
  bool decideOr(SymExpr predicate, bool fallback, const Provenance &origin);
  /// The program says that it holds: refuted is an error of the program,
  /// undecided becomes an entry guard (even if false at the hint, which
  /// `value` tells) or an assertion.
  Decision require(SymExpr predicate, const Provenance &origin);

  /// Takes one of several cases, any of which will do: the first that is
  /// proved, else the first that the example satisfies (a guard), else the
  /// first that reads data and is not refuted (an assertion). No guard says
  /// that the others do not hold. Nothing if no case can be taken.
  ///
  ///   env.choose({a == b, a == 1, b == 1}, origin)   // broadcasting
  ///
  /// The cases from `openFrom` on are too narrow to commit to. Where the
  /// example satisfies one of them and others are possible, none is taken: the
  /// guard is that some case holds, and the number of cases is returned; the
  /// caller must be right in each. The same, without a guard, if the facts
  /// prove that some case holds.
  std::optional<size_t> choose(llvm::ArrayRef<SymExpr> cases,
                               const Provenance &origin,
                               size_t openFrom = SIZE_MAX);

  //===--- Guards ---------------------------------------------------------===//
  /// In the order in which they were added; addresses stay.
  llvm::ArrayRef<std::unique_ptr<Guard>> guards() const { return allGuards; }
  const Guard *guard(llvm::StringRef id) const;
  /// Every guard, implied ones marked. Later guards may imply earlier ones;
  /// those are dropped first.
  std::vector<GuardStatus> minimalGuards() const;
  /// The symbols and declared facts alone.
  FactBase declaredFacts() const;

  /// With the user's names instead of symbols': "batch % 2 == 0".
  std::string text(SymExpr expr) const;
  const FactBase::Counters &counters() const { return current().counters(); }

private:
  struct Scope {
    FactBase base;
    std::vector<Fact> facts;
    SymExpr condition;
    size_t firstGuard;
  };
  FactBase &current() { return scopes.back().base; }
  const FactBase &current() const { return scopes.back().base; }
  Decision decide(SymExpr predicate, const Provenance &origin, bool assertData,
                  bool mustHold);
  SymExpr withoutQuotients(SymExpr predicate);
  Guard *addGuard(SymExpr asked, bool atRunTime, const Provenance &origin);
  bool assume(SymExpr predicate, FactKind kind, const Provenance &origin);
  std::optional<bool> valueAtExample(SymExpr predicate) const;
  std::optional<int64_t> evaluateHints(SymExpr expr) const;

  SymContext &ctx;
  /// Ranges alone: what guards are brought into a readable form under.
  FactBase ranges;
  std::vector<SymbolInfo> infos;
  llvm::DenseMap<SymExpr, size_t> index;
  llvm::StringMap<int64_t> hints;
  std::vector<std::unique_ptr<Guard>> allGuards;
  std::vector<Scope> scopes;
  unsigned entryGuards = 0, assertions = 0;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_SHAPEENV_H
