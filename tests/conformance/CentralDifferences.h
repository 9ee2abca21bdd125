//===- CentralDifferences.h - Whether a gradient is one --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_CENTRALDIFFERENCES_H
#define FORETRACE_TESTS_CONFORMANCE_CENTRALDIFFERENCES_H

#include "tests/conformance/Gradients.h"
#include "tests/conformance/ScratchFolder.h"

namespace ft::conformance {

/// The slopes of one call along a direction v, where t is the recorded gradient
/// of its results:
///
///   difference  Re <t, (f(x + h v) - f(x - h v)) / 2h>
///   compiled    Re <g, v> with the gradient g of the compiled call
///   recorded    Re <g, v> with the recorded one
struct Slopes {
  double difference = 0, compiled = 0, recorded = 0;
  /// What the sum of absolute terms is: slopes that are equal differ by a small
  /// part of it.
  double scale = 0;

  bool compiledIsRight() const { return agrees(compiled); }
  bool recordedIsRight() const { return agrees(recorded); }
  /// "central differences give 1.5, the recorded gradient 0.25"
  std::string str() const;

private:
  bool agrees(double slope) const;
};

/// Whether an operator is a function of Hermitian matrices: it reads one
/// triangle of this argument, and its gradient is right along directions that
/// are Hermitian too.
bool isOfHermitian(const Schema &schema, llvm::ArrayRef<Arg> args,
                   llvm::StringRef argument);

/// (v + v^H) / 2 of the last two dims of row-major numbers, which are complex
/// or not.
void makeHermitian(double *numbers, llvm::ArrayRef<int64_t> shape,
                   bool isComplex);

/// Compiles the call in float64 and takes central differences along a random
/// direction for each argument that has a recorded gradient: the verdict on
/// calls whose recorded gradients are not those that came out (`gradients`).
/// Fails for calls that cannot be compiled or run in float64.
llvm::Expected<std::vector<Slopes>> slopesOf(const ValueCase &test,
                                             const DataFile &data,
                                             const GradientResults &gradients,
                                             const ScratchFolder &scratch);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_CENTRALDIFFERENCES_H
