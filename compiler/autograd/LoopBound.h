//===- LoopBound.h - How often a loop runs ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop whose condition compares a counter with a limit runs a number of times
// that can be told before:
//
//   ft.while(%zero, %x) cond (%i, …) { yield lt(%i, 5) }
//                       do (%i, …) { yield add(%i, 2), … }    3 times
//
// The counter starts at a constant and grows by a constant; the limit is one
// too, or a size of the run. For other loops what the program declares
// (names::kBound) is a bound, not the count.

#ifndef FORETRACE_COMPILER_AUTOGRAD_LOOPBOUND_H
#define FORETRACE_COMPILER_AUTOGRAD_LOOPBOUND_H

#include "compiler/shape/Dim.h"
#include "dialects/ft/FtControl.h"

#include "mlir/IR/BuiltinOps.h"

namespace ft {

struct LoopBound {
  Dim count;
  /// It runs as often as that in any case.
  bool exact = false;
};

/// Nothing if none is declared and the loop does not tell.
std::optional<LoopBound> boundOf(WhileOp loop);

/// Declares the bounds of loops: "64" of every one that has none, "NAME=64" of
/// those whose first result has that name. Reports [FT0001] what cannot be
/// read, and names that no loop has.
mlir::LogicalResult declareBounds(mlir::ModuleOp module,
                                  llvm::ArrayRef<std::string> bounds);

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_LOOPBOUND_H
