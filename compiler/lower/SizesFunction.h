//===- SizesFunction.h - The function that works out sizes -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_SIZESFUNCTION_H
#define FORETRACE_COMPILER_LOWER_SIZESFUNCTION_H

#include "compiler/lower/PlanSymbols.h"
#include "compiler/shape/Dim.h"

namespace ft {

/// Emits ft_gen_sizes (runtime/src/abi.h) into the module: from the values of
/// plan.symbols it checks the guards and stores the sizes and strides of
/// plan.inputs and plan.outputs and the bytes of the arena. What depends on a
/// size that no input tells is -1; of the arena's bytes such symbols are 0.
///
/// Sizes that leave 64 bits on the way, or are beyond 2^60, end in
/// FT_ERROR_MEMORY. `numbers` are what else the code computes with; those that
/// the inputs tell must fit in 64 bits too.
void emitSizesFunction(mlir::ModuleOp module, const Plan &plan,
                       llvm::ArrayRef<SizeGuard> guards, Dim arenaBytes,
                       llvm::ArrayRef<SymExpr> numbers = {});

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_SIZESFUNCTION_H
