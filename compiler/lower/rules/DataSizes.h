//===- DataSizes.h - Results whose sizes depend on data --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_DATASIZES_H
#define FORETRACE_COMPILER_LOWER_RULES_DATASIZES_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// operand(0)[tensors], of which some are masks; null ones take whole dims.
mlir::LogicalResult lowerMaskedIndex(LowerCall &c,
                                     llvm::ArrayRef<mlir::Value> tensors);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_DATASIZES_H
