//===- IndexPlan.h - Advanced indexing, x[i, :, j] -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_INDEXPLAN_H
#define FORETRACE_COMPILER_LOWER_INDEXPLAN_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// How the dims of x and of x[i, :, j] belong together. The index tensors are
/// broadcast against each other; their dims stand where the indexed dims stood
/// if those are neighbours, else in front.
///
///   x [3, 4, 5], x[:, i] with i [2, 6]       → [3, 2, 6, 5]
///   x [3, 4, 5], x[i, :, j] with i, j [2]    → [2, 4]
struct IndexPlan {
  /// For each dim of x the index tensor, or nothing (`:`).
  llvm::SmallVector<std::optional<LoweredTensor>, 6> indexOf;
  /// The common shape of the index tensors.
  Dims broadcast;
  /// Where `broadcast` starts in the result.
  unsigned broadcastAt = 0;
  /// For each dim of x without index its dim in the result.
  llvm::SmallVector<unsigned, 6> resultDim;
  Dims resultSizes;

  /// `tensors` may be shorter than the rank, with nulls for `:`. Refuses masks
  /// (the result's size would depend on data) through `c`.
  static mlir::FailureOr<IndexPlan> make(LowerCall &c,
                                         llvm::ArrayRef<Dim> sizes,
                                         llvm::ArrayRef<mlir::Value> tensors);

  /// The same of index tensors that are lowered, one for each dim or less.
  using Indices = llvm::ArrayRef<std::optional<LoweredTensor>>;
  static IndexPlan of(llvm::ArrayRef<Dim> sizes, Indices indices);

  /// Fails the run if an index is outside [-n, n).
  void check(LowerCall &c, llvm::ArrayRef<Dim> sizes) const;

  /// The index tensors, read at iteration dims `first`… for `broadcast`.
  llvm::SmallVector<Access> accesses(LowerCall &c, unsigned first) const;
};

/// The index that reads `tensor` broadcast to dims `at`, aligned at the end.
llvm::SmallVector<mlir::AffineExpr, 6>
broadcastIndex(LowerCall &c, const LoweredTensor &tensor,
               llvm::ArrayRef<mlir::AffineExpr> at);

/// How many elements of a flat mask are true up to and with each one (i64).
LoweredTensor inclusiveCount(LowerCall &c, LoweredTensor mask);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_INDEXPLAN_H
