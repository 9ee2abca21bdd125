//===- PNorm.h - The p-norm, element by element ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   p = inf    max |x|          p = 1   sum |x|
//   p = -inf   min |x|          p = 2   sqrt(sum x^2)
//   p = 0      count of x != 0  else    (sum |x|^p)^(1/p)

#ifndef FORETRACE_COMPILER_LOWER_RULES_PNORM_H
#define FORETRACE_COMPILER_LOWER_RULES_PNORM_H

#include "compiler/lower/rules/Reducing.h"

namespace ft {

/// What the accumulator starts at. The norm of nothing is 0.
Start pNormStart(double p, DType dtype, bool empty);
/// The accumulator after element `x` (real or complex; the accumulator real).
mlir::Value pNormStep(ScalarBuilder &s, double p, mlir::Value accumulator,
                      mlir::Value x);
/// The norm, given the last accumulator.
mlir::Value pNormEnd(ScalarBuilder &s, double p, mlir::Value accumulator);

/// The norm along `dims` in `dtype`, computed in its opmath dtype.
LoweredTensor pNorm(LowerCall &c, LoweredTensor x, double p,
                    llvm::ArrayRef<unsigned> dims, bool keepDim, DType dtype);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_PNORM_H
