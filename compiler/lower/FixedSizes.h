//===- FixedSizes.h - Sizes that guards make numbers -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_FIXEDSIZES_H
#define FORETRACE_COMPILER_LOWER_FIXEDSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ft {

/// Puts the number for a symbol of which a fact says it:
///
///   ft.fact "s0 == 1"      x: tensor<?x4xf32, #ft.meta<[s0, 4], cpu>>
///   (gone)                 x: tensor<1x4xf32, #ft.meta<cpu>>
///
/// The fact is then what the input's type says, which the runtime compares with
/// the caller's tensor. Rules need it: a size of 1 is broadcast, and reading it
/// like another would go out of bounds. Only symbols that inputs tell.
void fixSizes(mlir::func::FuncOp function);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_FIXEDSIZES_H
