//===- ComplexScalar.h - Complex functions of special values ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Division, exp, log and the modulus of complex numbers, whose plain formulas
// give NaN where infinity or zero is the answer. PyTorch's kernels have these
// from C's library (Annex G), division from their own scaled formula.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_LOWER_COMPLEXSCALAR_H
#define FORETRACE_COMPILER_LOWER_COMPLEXSCALAR_H

#include "compiler/lower/Scalar.h"

namespace ft {

/// x / y as PyTorch divides: by the larger part of y first, whose reciprocal is
/// multiplied. A divisor of 0 divides both parts by 0; one with two infinite
/// parts gives NaN.
mlir::Value complexQuotient(ScalarBuilder &s, mlir::Value x, mlir::Value y);

/// e^z: a real z stays real at infinity, and a real part of -inf gives 0
/// whatever the angle is.
mlir::Value complexExp(ScalarBuilder &s, mlir::Value z);

/// The modulus: infinite if a part is, NaN beside it or not.
mlir::Value complexModulus(ScalarBuilder &s, mlir::Value z);

/// log |z| and the angle.
mlir::Value complexLog(ScalarBuilder &s, mlir::Value z);

/// x y by the formula of Annex G: infinite, not NaN, where a factor is.
mlir::Value infiniteProduct(ScalarBuilder &s, mlir::Value x, mlir::Value y);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_COMPLEXSCALAR_H
