//===- Programs.h - The programs of a module -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_PROGRAMS_H
#define FORETRACE_DIALECTS_FT_PROGRAMS_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/SmallVector.h"

namespace ft {

namespace names {
/// On the program that updates parameters: the row of
/// compiler/optimizer/Optimizers.def (StringAttr).
inline constexpr llvm::StringLiteral kOptimizer = "ft.optimizer";
/// On calls: those with equal numbers (i64) are to be one kernel. The calls
/// must be pointwise, and nothing between them may need what one of them
/// makes.
inline constexpr llvm::StringLiteral kFuse = "ft.fuse";
} // namespace names

/// A model that is trained is several programs after stage partition, each a
/// module in its module (`module @forward`, `module @backward`, with an
/// optimizer `module @update`) with a function @forward; any other is one: the
/// module itself.
inline llvm::SmallVector<mlir::ModuleOp, 2> programsOf(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::ModuleOp, 2> programs(
      module.getOps<mlir::ModuleOp>());
  if (programs.empty())
    programs.push_back(module);
  return programs;
}

/// "forward" for the only program.
inline llvm::StringRef programName(mlir::ModuleOp program) {
  return program.getSymName().value_or("forward");
}

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_PROGRAMS_H
