//===- MaskIndices.h - Masks among indices that are written -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x[m, i] = v: a mask over k dims stands for k index tensors, the coordinates
// of its true elements in row-major order, and is broadcast against the others.
// How many these are only the data say; but no more than the mask has elements,
// so the lists get a length that is known and updates beyond their end do
// nothing:
//
//   x [2, 3], m [T F], i [0 1 2]     m stands for [0], broadcast to i
//   x [2, 3], m [T T], i [2]         m stands for [0 1], i is broadcast
//   x [4],    m [F T T F]            lists of 4: [1 2 0 0], the last two masked

#ifndef FORETRACE_COMPILER_LOWER_RULES_MASKINDICES_H
#define FORETRACE_COMPILER_LOWER_RULES_MASKINDICES_H

#include "compiler/lower/LowerCall.h"

namespace ft {

struct MaskIndices {
  /// For each dim of x the index tensor, or nothing (`:`).
  llvm::SmallVector<std::optional<LoweredTensor>, 6> indices;
  /// What is written, as long as the lists where it was as long as the masks
  /// have true elements.
  LoweredTensor values;
  /// Which elements of lists count, if not all.
  std::optional<LoweredTensor> counts;
};

inline bool isMask(const LoweredTensor &t) {
  return t.dtype == DType::Bool || t.dtype == DType::U8;
}

/// Of static sizes. Fails the run where the masks, indices and values cannot be
/// broadcast to each other.
MaskIndices listMasks(LowerCall &c, llvm::ArrayRef<mlir::Value> tensors,
                      llvm::ArrayRef<int64_t> sizes, LoweredTensor values);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_MASKINDICES_H
