//===- SizeCode.h - Code that computes a size ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_DIALECTS_FT_SIZECODE_H
#define FORETRACE_DIALECTS_FT_SIZECODE_H

#include "compiler/shape/Dim.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ft {

/// Emits arith operations for expressions over symbols, each subexpression
/// once:
///
///   4*s0 + 1   ==>   %0 = arith.muli %s0, %c4; %1 = arith.addi %0, %c1
///
/// Numbers are `index`, predicates `i1`. Values are as in SymContext::evaluate
/// wherever that has a value; elsewhere (a division by 0, an overflow) they are
/// any number, and nothing traps: divisors are at least 1. Whether there was an
/// overflow, `isExact` tells.
class SizeCode {
public:
  using Symbol = llvm::function_ref<mlir::Value(llvm::StringRef)>;

  /// The value of `d`, emitted at the insertion point of `b`; what was emitted
  /// before must dominate it. `symbol` gives the value of each symbol.
  mlir::Value emit(mlir::OpBuilder &b, mlir::Location loc, Dim d,
                   Symbol symbol);
  mlir::Value emit(mlir::OpBuilder &b, mlir::Location loc, SymExpr e,
                   Symbol symbol);

  /// Whether no sum, product or power emitted since the last such question
  /// leaves 64 bits; null if there is none.
  mlir::Value isExact(mlir::OpBuilder &b, mlir::Location loc);

  /// A sum or product, which counts where `matters`, if that is there, holds.
  struct Step {
    mlir::Value result, matters = {};
  };

private:
  llvm::DenseMap<SymExpr, mlir::Value> known;
  /// Not yet asked for, and conditions under which powers are right.
  llvm::SmallVector<Step> steps;
  llvm::SmallVector<mlir::Value> conditions;
};

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_SIZECODE_H
