//===- MathLowering.h - Elementary functions as polynomials ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_MATHLOWERING_H
#define FORETRACE_COMPILER_CODEGEN_CPU_MATHLOWERING_H

#include "mlir/IR/BuiltinOps.h"

namespace ft {

/// Replaces math ops on f32, scalars and vectors alike, by arithmetic; those on
/// f16 and bf16 go through f32. Largest errors against the exact value, in
/// units of the last place (tests/unit/codegen/MathTest.cpp measures them):
///
///   exp, exp2, expm1, log, log2, log10, log1p     2 to 3
///   tanh, erf                                     2 to 3
///   sin, cos (|x| < 2^30)                         2
///   rsqrt                                         1
///   powf with the exponent 1/2, 1, 2, 3, 4 or -1  exact to 2
///
/// Everything else, and f64, stays what it is: scalar calls of libm
/// (runtime/src/imports.def).
void lowerMath(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_MATHLOWERING_H
