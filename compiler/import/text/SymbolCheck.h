//===- SymbolCheck.h - What a text says of its symbols ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An archive's symbols come from the exporter; a text's from whoever wrote it,
// and everything behind goes by them: guards are checked at the place that a
// source names, sizes are worked out at the hints. So, of the symbols of
// @forward's arguments, in a text of stage import or fake:
//
//   ft.symbol "s0" {lower = 2, upper = 64, hint = 4, source = "x:0"}
//
// the hint lies in the range, the source is a dim (or an integer argument) that
// there is and that has the symbol, no size, stride or offset of an argument
// can be negative, and every symbol of an annotation is declared.

#ifndef FORETRACE_COMPILER_IMPORT_TEXT_SYMBOLCHECK_H
#define FORETRACE_COMPILER_IMPORT_TEXT_SYMBOLCHECK_H

#include "mlir/IR/BuiltinOps.h"

namespace ft {

/// Reports [FT0107] for what cannot be, at its place.
mlir::LogicalResult checkSymbols(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_IMPORT_TEXT_SYMBOLCHECK_H
