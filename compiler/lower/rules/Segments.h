//===- Segments.h - Rows that belong together ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bags and segments are consecutive rows. The segment of each row is found by
// one pass (runtime/kernels/segments.c); sums, products and extremes are then
// folds at indices (Updates.h).

#ifndef FORETRACE_COMPILER_LOWER_RULES_SEGMENTS_H
#define FORETRACE_COMPILER_LOWER_RULES_SEGMENTS_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// The segment of each of n rows (i64 [n]), or -1. `starts` has one entry for
/// each of the `count` segments, and perhaps one where the last ends.
LoweredTensor segmentsByStart(LowerCall &c, LoweredTensor starts, Dim count,
                              Dim n);
LoweredTensor segmentsByLength(LowerCall &c, LoweredTensor lengths, Dim n);

/// How many rows (of those where `mask` is true) each segment has: i64 [count].
LoweredTensor rowsOfSegments(LowerCall &c, LoweredTensor segments, Dim count,
                             std::optional<LoweredTensor> mask = {});

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_SEGMENTS_H
