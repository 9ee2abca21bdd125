//===- Search.h - Binary searches in bodies --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_SEARCH_H
#define FORETRACE_COMPILER_LOWER_RULES_SEARCH_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// Where `value` would be inserted (of type index) into a sorted sequence of n
/// elements: before (left) or after (right) its equals; NaN goes to the end.
/// `element(i)` gives the sequence, which has no NaN (with NaN the search goes
/// where ATen's does). log2(n) steps, unrolled; for an n of the run, which may
/// be 0, a loop.
mlir::Value binarySearch(LowerCall &c, ScalarBuilder &s, mlir::Value value,
                         Dim n, bool right, DType dtype,
                         llvm::function_ref<mlir::Value(mlir::Value)> element);
/// The first element that is not less than `value` in a sequence that may end
/// in NaN; n if there is none.
mlir::Value lowerBound(LowerCall &c, ScalarBuilder &s, mlir::Value value, Dim n,
                       DType dtype,
                       llvm::function_ref<mlir::Value(mlir::Value)> element);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_SEARCH_H
