//===- Linalg.h - What the lowering of matrix functions shares -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_LINALG_H
#define FORETRACE_COMPILER_LOWER_RULES_LINALG_H

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Reducing.h"

namespace ft {

/// The last two dims of a tensor as matrices, the others as their batch.
struct Matrices {
  Sizes batch;
  int64_t count = 1, rows = 0, cols = 0;

  /// The sizes of the batch, then `more`.
  Sizes with(std::initializer_list<int64_t> more) const;
};
/// `sizes` must be two or more.
Matrices matricesOf(llvm::ArrayRef<int64_t> sizes);
/// The common batch of two.
Sizes broadcastBatch(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// The last two dims exchanged, and conjugated.
LoweredTensor transposeOf(LowerCall &c, LoweredTensor t);
LoweredTensor adjointOf(LowerCall &c, LoweredTensor t);
/// Zeros above (below) the diagonal, ones on it if `unitDiagonal`.
LoweredTensor triangleOf(LowerCall &c, LoweredTensor t, bool lower,
                         bool unitDiagonal = false);

/// X, LU, pivots, info of A X = B (or X A = B); a B that holds vectors as
/// torch.linalg.solve says.
llvm::SmallVector<LoweredTensor>
solveOf(LowerCall &c, LoweredTensor a, LoweredTensor b, bool left, bool check);
/// The inverse, info.
llvm::SmallVector<LoweredTensor> inverseOf(LowerCall &c, LoweredTensor a,
                                           bool check);

/// The results of the call, in order; those that it does not have are dropped.
void setResults(LowerCall &c, llvm::ArrayRef<LoweredTensor> results);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_LINALG_H
