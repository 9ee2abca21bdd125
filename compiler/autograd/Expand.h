//===- Expand.h - Replaces calls before they are derived -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_AUTOGRAD_EXPAND_H
#define FORETRACE_COMPILER_AUTOGRAD_EXPAND_H

#include "compiler/autograd/RuleCall.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ft {

/// Replaces every call that varies with an argument that requires a gradient,
/// and has an expansion, by that; what it becomes may be expanded again. The
/// last call of an expansion inherits the name of what it replaces.
mlir::LogicalResult expandCalls(mlir::func::FuncOp function,
                                RuleBuilder &builder);

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_EXPAND_H
