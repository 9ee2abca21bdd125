//===- ModuleScope.h - The symbols and facts of a module -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_MODULESCOPE_H
#define FORETRACE_COMPILER_FAKE_MODULESCOPE_H

#include "compiler/fake/FakeScope.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ft {

class SymbolOp;

/// A scope for a walk over `@forward`: what the module's `ft.symbol` and
/// `ft.fact` operations say of the symbols of its arguments.
///
/// A symbol that no argument has was made by an operation, and a fact with an
/// id by a walk. `Remake` leaves both out: the walk makes them anew, symbols
/// from u0 on and guards from g0 on, so that a second walk gives the names of
/// the first. `Follow` makes symbols anew and relies on the guards that are
/// there. `Keep` knows symbols and guards, and new ones get other names.
///
///   ft.symbol "s0" {lower = 2, upper = 64, hint = 4, source = "x:0"}
///   ft.symbol "u0" {lower = 0, upper = 12, source = "nonzero"}
///   ft.fact "s0 % 4 == 0" {id = "g0", cause = "view"}
class ModuleScope {
public:
  enum class Use { Remake, Follow, Keep };
  /// Of symbols with a hint, `Remake` lets calls make guards.
  ModuleScope(mlir::ModuleOp module, mlir::func::FuncOp forward, Use use);

  FakeScope &scope() { return fakeScope; }
  /// Reports [FT0107] at the operation if a symbol is declared twice, or if a
  /// fact contradicts what stands before it or names what nothing declares.
  mlir::LogicalResult verify() const;
  /// Replaces the `ft.symbol` operations of symbols that operations made, the
  /// `ft.fact` operations of guards and all `ft.assert` operations by those
  /// that the walk made.
  void bind(mlir::ModuleOp module);

  /// After `Keep`: adds `ft.symbol` operations for the symbols that calls have
  /// made since.
  void declareMade(mlir::ModuleOp module);

private:
  bool isInput(llvm::StringRef name) const { return inputs.contains(name); }

  void blame(mlir::Operation *op, const llvm::Twine &why);

  ShapeEnv env;
  FakeScope fakeScope;
  llvm::StringSet<> inputs;
  /// The first operation that cannot be right, and why.
  mlir::Operation *wrong = nullptr;
  std::string reason;
};

namespace names {
/// On an `ft.fact` with an id, an array of texts: other cases in which its call
/// would have worked, given up for this one (Guard::instead).
inline constexpr llvm::StringLiteral kInstead = "ft.instead";
} // namespace names

/// Replaces the guards and assertions of a module by those of a scope whose
/// calls are operations of it.
void bindGuards(mlir::ModuleOp module, FakeScope &scope);

/// The names of all symbols that a function's arguments have.
void collectInputSymbols(mlir::func::FuncOp function, llvm::StringSet<> &found);

/// What an `ft.symbol` says of a symbol of the inputs.
SymbolInfo inputSymbol(SymbolOp op);

/// The expression of an integer argument of a function; nothing if it has none.
std::optional<Dim> argumentNumber(mlir::func::FuncOp function,
                                  unsigned argument);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_MODULESCOPE_H
