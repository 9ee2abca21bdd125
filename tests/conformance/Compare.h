//===- Compare.h - When two tensors are equal ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_COMPARE_H
#define FORETRACE_TESTS_CONFORMANCE_COMPARE_H

#include "tests/conformance/HostTensor.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace ft::conformance {

/// How much rounding a value has been through.
enum class Accuracy {
  /// One operation for each element.
  Pointwise,
  /// Sums: reductions, matmul, conv, norms, whole models, gradients of single
  /// operators.
  Accumulated,
  /// Gradients of whole models.
  ModelGradient
};

/// |got - want| <= relative * |want| + absolute * max(1, max|want|)
struct Tolerance {
  double relative = 0, absolute = 0;
};

/// The oracle's tolerances. Zero for integers and bool.
Tolerance toleranceFor(DType dtype, Accuracy accuracy);

/// What the results of an operator of this family have been through.
Accuracy accuracyOfFamily(llvm::StringRef family);

/// Nothing if the tensors are equal, otherwise the element that differs most:
/// "[1, 2]: expected 0.5, got 0.25 (3 of 8 differ)".
///
/// - dtype and shape are equal.
/// - Integers and bools are equal exactly.
/// - NaN and the infinities stand at the same places.
/// - Everything else is within the tolerance; complex numbers by modulus. Where
///   `want64` is given (the same result worked out in float64), an element may
///   be close to either: float32 of another rounding is as good as PyTorch's.
/// - The sign of zero counts only with `signedZero`.
std::optional<std::string>
compareTensors(const TensorView &got, const TensorView &want, Accuracy accuracy,
               const TensorView *want64 = nullptr, bool signedZero = false);

/// Nothing if the largest error of `got` against the float64 result is at most
/// twice that of `want` (PyTorch's), or 4 units of the last place of the dtype
/// at the largest number of `want64`; otherwise both errors. Elements that are
/// not finite in one of the three do not count.
std::optional<std::string> compareErrors(const TensorView &got,
                                         const TensorView &want,
                                         const TensorView &want64);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_COMPARE_H
