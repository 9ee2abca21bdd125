//===- Indexed.h - Pointwise ops that say how they index -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LowerCall::pointwise broadcasts from the right. A bias per channel, or a mean
// per group of channels, stands in the middle: here each further operand says
// where it is read for the element at `index`. The result keeps the physical
// order of `x`, and the loops run in it, so that a channels-last image stays
// one.

#ifndef FORETRACE_COMPILER_LOWER_RULES_INDEXED_H
#define FORETRACE_COMPILER_LOWER_RULES_INDEXED_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// The further operands, given the logical index of the element of `x`.
using Sides = llvm::function_ref<llvm::SmallVector<Access>(
    llvm::ArrayRef<mlir::AffineExpr> index)>;

/// result[i] = body(x[i], sides…), in `dtype`. The body gets the operands in
/// their own dtypes.
LoweredTensor mapIndexed(LowerCall &c, LoweredTensor x, DType dtype,
                         Sides sides, ScalarBody body);

/// Computes on each element of `x` with its position known: `loops` is the
/// iteration dim (for loopIndex) of each logical dim.
LoweredTensor
mapWithPosition(LowerCall &c, LoweredTensor x, DType dtype,
                llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::Value,
                                               llvm::ArrayRef<unsigned> loops)>
                    body);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_INDEXED_H
