//===- Resample.h - Fixed linear maps along one dim ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RESAMPLE_H
#define FORETRACE_COMPILER_LOWER_RESAMPLE_H

#include "compiler/lower/LowerCall.h"

#include <functional>

namespace ft {

/// One position of a dim after resampling: which positions before it are
/// added up, with which weights.
struct Taps {
  llvm::SmallVector<int64_t, 4> index;
  llvm::SmallVector<double, 4> weight;
};

/// A linear map along one dim that is known at compile time: interpolation,
/// padding by reflection, repetition. Example: upsampling [a b] linearly to
/// four is {a}, {3/4 a + 1/4 b}, {1/4 a + 3/4 b}, {b}.
struct Resampling {
  int64_t from = 0;
  std::vector<Taps> to;

  /// Every position is one position before, unchanged.
  bool isGather() const;
};

/// Applies the map along `dim`; sums and products in the opmath type.
/// A gather keeps the dtype; others leave the opmath type (the caller rounds
/// once, after the last dim). Cost: taps per element.
LoweredTensor resample(LowerCall &c, LoweredTensor t, unsigned dim,
                       const Resampling &map);

/// The transposed map, which takes gradients back, in the opmath type. Cost:
/// per element of the result as many terms as the map reads any position.
LoweredTensor resampleBackward(LowerCall &c, LoweredTensor gradient,
                               unsigned dim, const Resampling &map);

/// One tap of a position that a body works out: a position before, of type
/// index and in bounds, and its weight in the opmath type (absent: 1).
struct RunTap {
  mlir::Value index, weight;
};

/// Such a map where sizes are of the run: what `at` gives for a position (of
/// type index) is code. Without weights there is one tap.
struct RunResampling {
  Dim to = 0;
  unsigned taps = 1;
  bool weighted = false;
  std::function<llvm::SmallVector<RunTap, 4>(ScalarBuilder &, mlir::Value)> at;
};

/// As for maps that are known; without weights the dtype is kept.
LoweredTensor resample(LowerCall &c, LoweredTensor t, unsigned dim,
                       const RunResampling &map);
/// To a dim of size `from`, by one scatter for each tap.
LoweredTensor resampleBackward(LowerCall &c, LoweredTensor gradient,
                               unsigned dim, Dim from,
                               const RunResampling &map);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RESAMPLE_H
