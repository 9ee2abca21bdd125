//===- ModuleSymbols.h - The symbols and facts of a program ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_MODULESYMBOLS_H
#define FORETRACE_COMPILER_IMPORT_PT2_MODULESYMBOLS_H

#include "compiler/import/pt2/GuardText.h"
#include "compiler/import/pt2/Schema.h"
#include "dialects/ft/TensorMeta.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace ft::pt2 {

/// Collects what an archive says of symbolic sizes, and makes the `ft.symbol`
/// and `ft.fact` operations of the module from it.
///
/// An archive says it in three places: the annotations of inputs (hint and
/// source of a symbol), ranges of symbols and of expressions (3*s36 is in
/// 6 … 192), and guards. A condition that bounds one symbol narrows its range;
/// one that always holds is dropped; the rest become facts, each with the
/// archive's text as its cause. A guard that cannot be read, or can never
/// hold, is left out with a note (FT0208): the fake pass finds the conditions
/// that the program needs by itself.
///
/// The tracer takes sizes of inputs to be 2 or more without being asked, and
/// sizes made of them not to be 0 or 1. Neither is a condition of the program:
/// such a range starts at 0 here, with the tracer's bound kept for what the
/// archive claims under it, and such a guard (`n - 1 != 1`) is dropped.
class ModuleSymbols {
public:
  explicit ModuleSymbols(SymContext &symbolContext) : context(symbolContext) {}

  /// A user's input, in any order; `info` has the hints.
  void addTensor(const TensorMeta &meta, const TensorInfo &info,
                 llvm::StringRef input);
  void addInteger(const Dim &dim, std::optional<int64_t> hint,
                  llvm::StringRef input);
  /// Call after all inputs; notes go to `location`.
  void addConditions(const Program &program, mlir::Location location);
  void build(mlir::OpBuilder &builder) const;

private:
  struct Symbol {
    std::optional<int64_t> hint, lower, upper, tracedLower;
    std::string source;
  };
  struct Fact {
    std::string relation, cause;
  };

  void addSymbols(SymExpr e);
  void addSource(SymExpr e, const std::string &source,
                 std::optional<int64_t> hint);
  void addTracedLower(const Range &range);
  void addRange(const Range &range);
  bool isTraced(SymExpr e, int64_t lower) const;
  bool addCondition(SymExpr condition, llvm::StringRef cause);
  bool narrow(SymExpr condition);
  std::optional<Dim> find(const GuardTerm &term) const;

  SymContext &context;
  std::map<std::string, Symbol> symbols;
  std::vector<Fact> facts;
  llvm::StringMap<TensorMeta> tensors;
  llvm::StringMap<Dim> integers;
};

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_MODULESYMBOLS_H
