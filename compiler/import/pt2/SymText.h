//===- SymText.h - Reads sympy's text of expressions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_SYMTEXT_H
#define FORETRACE_COMPILER_IMPORT_PT2_SYMTEXT_H

#include "compiler/shape/SymExpr.h"

namespace ft::pt2 {

/// Reads an expression as archives hold it: sympy's srepr,
///
///   Mul(Integer(2), Symbol('s77', positive=True, integer=True))
///   FloorDiv(Symbol('u0', integer=True), Integer(2))
///   GreaterThan(Symbol('u0', integer=True), Integer(0))
///
/// with PyTorch's own functions (FloorDiv, Mod, PythonMod, CleanDiv, CeilDiv,
/// ModularIndexing, PowByNatural, shifts, and truncated or rounded quotients of
/// integers: TruncToInt(IntTrueDiv(a, b)) and the like). Also reads Python's
/// infix text, which some exporters wrote.
///
/// A quotient that is truncated towards zero is the floor where both sides are
/// known not to be negative, from `positive=True` and `nonnegative=True` of
/// their symbols; elsewhere it is Max(0, a // b) + Min(0, -((-a) // b)).
///
/// Fails (FT0206) on unknown functions, real numbers, nesting beyond 256 and
/// constants beyond 64 bits. The result may be a predicate.
llvm::Expected<SymExpr> parseSymText(SymContext &context, llvm::StringRef text);

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_SYMTEXT_H
