//===- PlanSymbols.h - The sizes that a run decides ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_PLANSYMBOLS_H
#define FORETRACE_COMPILER_LOWER_PLANSYMBOLS_H

#include "compiler/lower/Plan.h"
#include "compiler/shape/SymExpr.h"

namespace ft {

/// What a call has to check of its sizes by code: all that neither ranges of
/// symbols nor the comparison of dims with the plan's types says.
struct SizeGuard {
  SymExpr condition;
  /// "batch must be a multiple of 4, for view at model.py:12".
  std::string sentence;
};

/// Fills plan.symbols from the `ft.symbol` operations of the module, and gives
/// the conditions that are left of its `ft.fact` operations. The plan has its
/// inputs and outputs.
///
///   ft.symbol "s0" {title = "batch"}          symbols: batch in 2..64, read
///   ft.symbol "s1" {…}                        from x:0; s1, read from mask:0
///   ft.fact "s0 >= 2"    ft.fact "s0 <= 64"   (ranges)
///   ft.fact "s0 == s1"                        (mask's type says s0)
///   ft.fact "s0 % 4 == 0" {cause = "view"}    the only guard
///   @forward(x: [s0, 8], mask: [s1])
///
/// Each symbol of the inputs is read where a dim is a positive multiple of it
/// and a number, first where it is the symbol itself; [FT0006] is reported at
/// the module for one that is read nowhere. Facts between a bound and one
/// symbol become its range. From equalities one symbol is solved for, and
/// disappears from the types of the plan: the runtime compares the dims of
/// inputs with what these types say, and its sentence names the dim that they
/// must agree with. Facts that others imply are left out.
mlir::FailureOr<std::vector<SizeGuard>> planSymbols(mlir::ModuleOp module,
                                                    Plan &plan);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_PLANSYMBOLS_H
