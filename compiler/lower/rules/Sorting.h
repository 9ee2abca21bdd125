//===- Sorting.h - Sorting lines of a tensor -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_SORTING_H
#define FORETRACE_COMPILER_LOWER_RULES_SORTING_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// Keys and where they came from (i64), sorted along the last dim.
struct Sorted {
  LoweredTensor keys, places;
};

/// Sorts along `dim`, stably, NaN after all numbers; the first `keep` elements
/// of each line, with that dim last. No size may be the number 0, no dtype
/// complex.
Sorted sortLines(LowerCall &c, LoweredTensor x, unsigned dim, bool descending,
                 Dim keep);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_SORTING_H
