//===- ModuleGuards.h - What a module asks of sizes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symbols, declarations and guards of a module once more as a ShapeEnv,
// from its `ft.symbol` and `ft.fact` operations alone: for reports, of a module
// that was just propagated or read from a text.

#ifndef FORETRACE_COMPILER_FAKE_MODULEGUARDS_H
#define FORETRACE_COMPILER_FAKE_MODULEGUARDS_H

#include "compiler/shape/SpecializationReport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ft {

class ModuleGuards {
public:
  explicit ModuleGuards(mlir::ModuleOp module);

  /// A condition on the inputs, beside the ranges of their sizes.
  struct Row {
    /// "g0" for a guard of the program; "d0" for what was declared.
    std::string id;
    /// In the user's names: "batch % 4 == 0".
    std::string text;
    /// The operator that asked first, or the archive's text.
    std::string cause;
    /// "view_1, net.py:12"; may be empty.
    std::string place;
    bool declared = false;
    bool required = true;
    /// Of one that is not required: the ids of those that imply it; none if
    /// the declarations do.
    std::vector<std::string> impliedBy;
    /// In the user's names: other cases that the operator would have worked
    /// in, and the compiled program does not.
    std::vector<std::string> instead;
    SymExpr predicate;
  };
  llvm::ArrayRef<Row> rows() const { return all; }
  const Row *find(llvm::StringRef id) const;

  const ShapeEnv &env() const { return shapes; }
  /// Asked against found; symbols that a source names only.
  SpecializationReport report() const { return reportSpecializations(shapes); }

private:
  ShapeEnv shapes;
  std::vector<Row> all;
};

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_MODULEGUARDS_H
