//===- Rows.h - Softmax and moments along some dims ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What softmax, attention and losses, and what all normalisations have in
// common. All of it computes in the opmath dtype of its operand.

#ifndef FORETRACE_COMPILER_LOWER_RULES_ROWS_H
#define FORETRACE_COMPILER_LOWER_RULES_ROWS_H

#include "compiler/lower/rules/Reducing.h"

namespace ft {

/// exp(x - max) / sum of it along `dim`, in `dtype`. `safe`: a row that is all
/// -inf gives zeros instead of NaN.
LoweredTensor softmaxRows(LowerCall &c, LoweredTensor x, unsigned dim,
                          DType dtype, bool safe = false);
/// x - max - log(sum of exp(x - max)).
LoweredTensor logSoftmaxRows(LowerCall &c, LoweredTensor x, unsigned dim,
                             DType dtype);

/// What a maximum that is infinite is taken for: itself (inf - inf is then
/// NaN), 0 for -inf (a row of nothing), or 0 for both.
enum class InfiniteMax : uint8_t { Kept, LowestIsZero, IsZero };

/// max and log-sum-exp pieces along `dims`, both with the dims kept as 1 and in
/// the opmath dtype; `sum` is the sum of exp(x - max).
struct ExpSum {
  LoweredTensor max, sum;
};
ExpSum expSum(LowerCall &c, LoweredTensor x, llvm::ArrayRef<unsigned> dims,
              InfiniteMax infinite);

/// Mean and the biased variance along `dims` (kept as 1). The variance takes a
/// second pass over x - mean, as E[x^2] - mean^2 would cancel.
struct Moments {
  LoweredTensor mean, variance;
};
Moments moments(LowerCall &c, LoweredTensor x, llvm::ArrayRef<unsigned> dims);

/// 1 / sqrt(variance + eps), elementwise.
LoweredTensor reciprocalStd(LowerCall &c, LoweredTensor variance, double eps);
mlir::Value reciprocalStd(ScalarBuilder &s, mlir::Value variance, double eps);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_ROWS_H
