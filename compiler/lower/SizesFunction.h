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
/// Every product is computed with its upper half, and no sum or product may
/// leave +-2^60: sizes that large end in FT_ERROR_MEMORY, and nothing wraps.
void emitSizesFunction(mlir::ModuleOp module, const Plan &plan,
                       llvm::ArrayRef<SizeGuard> guards, Dim arenaBytes);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_SIZESFUNCTION_H
