//===- Search.h - Binary searches in bodies --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_SEARCH_H
#define FORETRACE_COMPILER_LOWER_RULES_SEARCH_H

#include "compiler/lower/Scalar.h"

namespace ft {

/// Where `value` would be inserted (of type index) into a sorted sequence of n
/// elements, n > 0: before (left) or after (right) its equals; NaN goes to the
/// end. `element(i)` gives the sequence. log2(n) steps, unrolled.
mlir::Value binarySearch(ScalarBuilder &s, mlir::Value value, int64_t n,
                         bool right, DType dtype,
                         llvm::function_ref<mlir::Value(mlir::Value)> element);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_SEARCH_H
