//===- MathLowering.h - Elementary functions as polynomials ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_MATHLOWERING_H
#define FORETRACE_COMPILER_CODEGEN_CPU_MATHLOWERING_H

#include "mlir/IR/BuiltinOps.h"

namespace ft {

/// Replaces math ops: f32 (and narrower, through f32) by polynomials on
/// vectors, f64 and the rest by scalar calls of libm.
mlir::LogicalResult lowerMath(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_MATHLOWERING_H
