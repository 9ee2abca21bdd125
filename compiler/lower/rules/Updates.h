//===- Updates.h - Folding values into a tensor at indices -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scatters and the gradients of gathers are one kernel (runtime/kernels/
// update.c): loops over updates, in row-major order, each of which folds a
// value into the element of the result at a place that is a loop or an element
// of an index tensor, for each dim.
//
//   gradient of a lookup: result [rows, width], from {index 0, loop 1},
//   values [n, width], index 0 [n, 1]
//
// Cost: elements of the result + updates. Indices are checked by the kernel,
// before it writes.

#ifndef FORETRACE_COMPILER_LOWER_RULES_UPDATES_H
#define FORETRACE_COMPILER_LOWER_RULES_UPDATES_H

#include "compiler/lower/LowerCall.h"
#include "compiler/lower/rules/Reducing.h"

namespace ft {

enum class Fold : uint8_t { Assign, Sum, Product, Max, Min };

/// What a value may be folded into without changing: 0, 1, or the extreme of
/// the dtype at the other end.
Start neutralOf(Fold fold, DType dtype);

/// Where a dim of the result is read from.
struct UpdatePlace {
  enum Kind : uint8_t { Loop, Index } kind;
  unsigned number;
};

struct Updates {
  Fold fold = Fold::Assign;
  Dims sizes;
  /// Sums of 16-bit floats are summed in float32 and rounded once.
  DType dtype = DType::F32;
  /// What the result starts as, of `sizes`; zeros without.
  std::optional<LoweredTensor> start;
  /// One for each dim of the result.
  llvm::SmallVector<UpdatePlace, 6> from;
  /// Of rank `loops` or less: aligned at the last loop and broadcast. A loop
  /// that is 1 in all of them has the size of its dim of the result.
  LoweredTensor values;
  llvm::SmallVector<LoweredTensor, 2> indices;
  /// Updates where it is false do nothing, their indices are not looked at.
  std::optional<LoweredTensor> mask;
  unsigned loops = 0;
  /// The loops have the sizes of the first index, `values` may be longer.
  bool loopsOfIndex = false;
  /// Negative indices count from the end.
  bool wrap = false;
  /// Updates at this index do nothing.
  std::optional<int64_t> skip;
};

/// The result, row-major, of `sizes` and `dtype`.
LoweredTensor foldUpdates(LowerCall &c, const Updates &updates);

/// The same without the kernel, for devices; see UpdatesByResult.cpp.
LoweredTensor foldByResult(LowerCall &c, const Updates &updates);

/// Zeros of `sizes`, with values[.., i] folded in at flat position
/// positions[.., i] of the last `space` dims: what max pools record.
LoweredTensor foldAtPositions(LowerCall &c, LoweredTensor values,
                              LoweredTensor positions, const SizeList &sizes,
                              unsigned space, Fold fold, DType dtype);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_UPDATES_H
