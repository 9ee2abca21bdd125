//===- Convolution.h - Convolutions as contractions ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_CONVOLUTION_H
#define FORETRACE_COMPILER_LOWER_RULES_CONVOLUTION_H

#include "compiler/lower/rules/Contract.h"

namespace ft {

/// The parameters of a convolution, one number for each spatial dim.
struct Convolution {
  llvm::SmallVector<int64_t, 6> stride, padding, dilation;
  Dims outputPadding;
  /// Added to the padding after the last element (padding "same").
  llvm::SmallVector<int64_t, 6> extraPadding;
  bool transposed = false;
  int64_t groups = 1;
};

/// x[N, C, …] with w[F, C / groups, …] (transposed: w[C, F / groups, …]),
/// without bias: channels-last, in the accumulation dtype.
LoweredTensor convolve(LowerCall &c, LoweredTensor x, Source w,
                       const Convolution &conv);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_CONVOLUTION_H
