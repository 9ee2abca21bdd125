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
  Dim count = 1, rows = 0, cols = 0;

  /// The sizes of the batch, then `more`.
  Sizes with(std::initializer_list<Dim> more) const;
};
/// There must be two sizes or more.
Matrices matricesOf(llvm::ArrayRef<Dim> sizes);

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

/// A = V L V^H, values ascending, the triangle above or below the diagonal
/// read; results in `dtype`, which may be wider than that of `a`.
struct Spectrum {
  LoweredTensor values, vectors;
};
Spectrum eighOf(LowerCall &c, LoweredTensor a, bool upper, bool vectors,
                DType dtype);
/// A = U S Vh, values descending.
struct Singular {
  LoweredTensor u, s, vh;
};
Singular svdOf(LowerCall &c, LoweredTensor a, bool full, bool vectors,
               DType dtype);

/// V S⁺ U^H with singular values of at most rtol times the largest as 0
/// (absent: the machine's precision times the larger size), the singular
/// values, all in double precision, and how many count. No size may be 0.
struct PseudoInverse {
  LoweredTensor inverse, values, rank;
};
PseudoInverse pseudoInverseOf(LowerCall &c, LoweredTensor a,
                              std::optional<double> rtol);

/// A B of two stacks of matrices, in the dtype that products are summed in.
LoweredTensor productOf(LowerCall &c, LoweredTensor a, LoweredTensor b);

/// linalg_matrix_norm, and linalg_norm of two dims: (self, ord, dim, keepdim,
/// *, dtype).
llvm::LogicalResult lowerMatrixNorm(LowerCall &c);

/// Whether there are kernels for the dtype: float32, float64 and their complex
/// types.
bool hasKernels(DType dtype);
/// A rule that refuses what its kernels, as LAPACK, do not take.
template <LowerRule Rule>
llvm::LogicalResult fullPrecision(LowerCall &c) {
  if (!hasKernels(c.meta(0).dtype))
    return c.unsupported("it is not implemented for " +
                         dtypeName(c.meta(0).dtype) + " on the CPU");
  return Rule(c);
}

/// The results of the call, in order; those that it does not have are dropped.
void setResults(LowerCall &c, llvm::ArrayRef<LoweredTensor> results);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_LINALG_H
