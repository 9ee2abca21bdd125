//===- FakeScope.h - What outlives one call --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_FAKESCOPE_H
#define FORETRACE_COMPILER_FAKE_FAKESCOPE_H

#include "compiler/fake/ConstantValue.h"
#include "compiler/shape/Dim.h"
#include "compiler/shape/ShapeEnv.h"

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <vector>

namespace ft {

/// What the calls of one program share: the symbols that stand for numbers
/// which only data decide, what is known of all symbols, and which symbol was
/// made for which tensor.
///
///   FakeScope scope(env);
///   nonzero(x)            // x [3, 4]: int64 [u0, 2], 0 <= u0 <= 12
///   nonzero(x)            // the same tensor, not written since: u0 again
///   y.item()              // u1 of any sign; of a float: zuf0
///
/// A call without a scope, or with one that does not allow it, fails where data
/// would decide a size.
class FakeScope {
public:
  /// A symbol made by a call, in the order of making.
  struct Unbacked {
    SymExpr symbol;
    /// A float: a symbol in name only, no size.
    bool isFloat = false;
    Interval range;
    /// The op that made it: "nonzero".
    std::string origin;
  };

  /// `env` must outlive the scope.
  explicit FakeScope(ShapeEnv &env, bool dataDependent = true)
      : shapeEnv(env), dataDependent(dataDependent) {}
  FakeScope(const FakeScope &) = delete;
  FakeScope &operator=(const FakeScope &) = delete;

  ShapeEnv &env() { return shapeEnv; }
  SymContext &symbols() { return shapeEnv.context(); }
  bool allowsDataDependent() const { return dataDependent; }
  /// Whether a truth value may be left to the run (`equal`): in a graph, whose
  /// ops take it as an operand; not in a program that would branch on it.
  bool allowsUnknownTruth() const { return dataDependent && unknownTruth; }
  void allowUnknownTruth() { unknownTruth = true; }

  //===--- Symbols --------------------------------------------------------===//
  /// A new integer, "u0", "u1", …, of at least `lower` and at most `upper`.
  Dim unbackedInteger(int64_t lower, std::optional<Dim> upper,
                      llvm::StringRef origin);
  /// A new float: "zuf0", …
  SymExpr unbackedFloat(llvm::StringRef origin);
  llvm::ArrayRef<Unbacked> made() const { return unbacked; }
  /// A name that new symbols must not have.
  void reserveName(llvm::StringRef name) { taken.insert(name); }

  //===--- Facts ----------------------------------------------------------===//
  /// What is known of a predicate; nothing if it is left open. Changes nothing.
  std::optional<bool> answer(SymExpr predicate) const;
  std::optional<bool> less(Dim a, Dim b) const;
  std::optional<bool> equal(Dim a, Dim b) const;

  /// From here on, relations between sizes of inputs that are left open become
  /// guards, as the example decides them (ShapeEnv::branch); otherwise a call
  /// that needs one is refused.
  void allowGuards(bool allow = true) { guards = allow; }
  /// As `answer`, with a guard where that is allowed. `guarded` is set if one
  /// was added: what the call gives is no news for a call elsewhere.
  std::optional<bool> decide(SymExpr predicate, llvm::StringRef op,
                             bool &guarded);
  /// The first of several cases that can be taken, or their number if it is
  /// left open; see ShapeEnv::choose.
  std::optional<size_t> choose(llvm::ArrayRef<SymExpr> cases,
                               llvm::StringRef op, bool &guarded,
                               size_t openFrom = SIZE_MAX);
  /// The operation of the calls that follow, for guards and assertions.
  void setCaller(mlir::Operation *op) { caller = op; }
  /// What calls took for granted of symbols that data decide, each with the
  /// call (null: there was none): a check has to stand in front of it.
  struct Assumption {
    const Guard *guard;
    mlir::Operation *caller;
  };
  llvm::ArrayRef<Assumption> assumptions() const { return assumed; }

  /// An operand of a call that broadcasts along one of its dims if the run
  /// finds a 1 there.
  struct Spread {
    mlir::Operation *caller;
    unsigned operand;
    unsigned dim;
    /// The size that it broadcasts to.
    Dim size;
  };
  void noteSpread(unsigned operand, unsigned dim, Dim size) {
    spreads.push_back({caller, operand, dim, size});
  }
  llvm::ArrayRef<Spread> spreadOperands() const { return spreads; }

  /// The program checks that it holds, at run time if it cannot be decided now.
  /// False if it cannot hold.
  bool require(SymExpr predicate, llvm::StringRef op);

  //===--- Claims of an archive -------------------------------------------===//
  /// The archive's claims are made for a symbol of at least `lower` only.
  void claimAtLeast(SymExpr symbol, int64_t lower) {
    claimed.push_back(symbols().ge(symbol, symbols().constant(lower)));
  }
  /// Whether a and b are the same wherever the archive claims anything.
  bool equalAsClaimed(Dim a, Dim b);

  //===--- Memo -----------------------------------------------------------===//
  // Keys are the caller's: one for each tensor value, 0 for none.
  /// What `purpose` (an op's base name, statically allocated) made of this
  /// tensor before.
  std::optional<Dim> remembered(uint64_t key, llvm::StringRef purpose) const;
  void remember(uint64_t key, llvm::StringRef purpose, Dim made);

  //===--- Constants ------------------------------------------------------===//
  /// The elements of a tensor; null if they are not known.
  ConstantPtr constant(uint64_t key) const {
    if (constants.empty())
      return nullptr;
    auto it = constants.find(key);
    return it == constants.end() ? nullptr : it->second.value;
  }
  /// `key` was made with this value. If it shares the storage of `base`, what
  /// is written to one of them is written to both; a view of a constant is
  /// told even if its own value is null.
  void setConstant(uint64_t key, ConstantPtr value, uint64_t base = 0);
  bool sharesConstant(uint64_t key) const { return constants.contains(key); }

  /// The tensor `key` was written: the values that share its storage are not
  /// known any more, nor what was remembered of any tensor.
  void written(uint64_t key);
  /// Whether anything is known that a write could make wrong.
  bool hasData() const { return !memo.empty() || !constants.empty(); }

private:
  Provenance origin(llvm::StringRef op) const;
  std::string freshName(llvm::StringRef prefix, unsigned &next);

  ShapeEnv &shapeEnv;
  bool dataDependent;
  bool unknownTruth = false;
  bool guards = false;
  mlir::Operation *caller = nullptr;
  std::vector<Assumption> assumed;
  std::vector<Spread> spreads;
  std::vector<SymExpr> claimed;
  /// What equalAsClaimed goes by, with so many facts of the environment.
  std::optional<FactBase> claims;
  size_t claimFacts = 0;
  unsigned nextInteger = 0, nextFloat = 0;
  std::vector<Unbacked> unbacked;
  llvm::StringSet<> taken;
  llvm::DenseMap<std::pair<uint64_t, llvm::StringRef>, Dim> memo;
  struct Constant {
    ConstantPtr value;
    /// The key that the storage was made with.
    uint64_t storage;
  };
  llvm::DenseMap<uint64_t, Constant> constants;
};

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_FAKESCOPE_H
