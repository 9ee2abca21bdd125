//===- FtInliner.h - Functions of ft ops, inlined --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `--inline` does with calls of functions that hold ft ops:
//
//   func @count(%x) { %n = nonzero(%x) : … [u0, 1] … }
//   call @count(%a); call @count(%b)
//   →  %n_a = nonzero(%a) : … [u1, 1]
//      %n_b = nonzero(%b) : … [u2, 1]
//
// A symbol that the function makes stands for another number in each call, so
// it is renamed in each copy, with its ft.symbol and the ft.facts about it.
// Symbols of the arguments' types are the caller's and stay. Where a result's
// type names a symbol that the function makes, the caller's name for it stays
// too, behind a ft.refine: two calls that give one symbol state that both sizes
// are equal, which is checked at run time.

#ifndef FORETRACE_DIALECTS_FT_FTINLINER_H
#define FORETRACE_DIALECTS_FT_FTINLINER_H

#include "mlir/IR/DialectRegistry.h"

namespace ft {

class FtDialect;

/// Lets func.call be inlined, as said above. Not together with the func
/// dialect's own extension for it.
void registerFtInliner(mlir::DialectRegistry &registry);

/// ft ops may stand wherever they are inlined to.
void addFtInliner(FtDialect &dialect);

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_FTINLINER_H
