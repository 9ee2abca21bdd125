//===- MemoryCurve.h - Memory against time, by budget ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   ft::Session session(options);             // options.training
//   if (session.load("model.pt2"))
//     if (auto curve = ft::memoryCurve(session))
//       for (const ft::CurvePoint &p : *curve)
//         std::printf("%g: %lld\n", p.budget, (long long)p.savedBytes);
//
// Each budget is tried: partition and lowering on a copy, nothing is changed.
//
// Tests: tests/partition/curve.test.

#ifndef FORETRACE_COMPILER_DRIVER_MEMORYCURVE_H
#define FORETRACE_COMPILER_DRIVER_MEMORYCURVE_H

#include "compiler/driver/Session.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ft {

/// What a training step takes with one budget, symbols at their hints.
struct CurvePoint {
  /// What --memory-budget takes to get this; 1 for none.
  double budget = 1;
  /// Activations that forward keeps for backward, and the arena of both: a
  /// size that the data decide counts as 4096 in the first, not in the second.
  int64_t savedBytes = 0, peakBytes = 0;
  /// What backward does again: calls but for views, floating point operations.
  int64_t recomputedCalls = 0, recomputedFlops = 0;
  /// Of forward and backward on one core: operations at the rate of the
  /// instruction set, tensors between kernels at kBytesPerSecond, and
  /// kSecondsPerKernel for each kernel. For comparing budgets; a bench
  /// measures.
  double seconds = 0;
};

inline constexpr double kBytesPerSecond = 10e9;
inline constexpr double kSecondsPerKernel = 1e-6;

/// From no budget down to the smallest that can be reached, in steps of 5 %;
/// budgets that keep the same bytes once. Runs what is left of the stages up to
/// autograd. Nothing after an error, which session.diagnostics() has.
FORETRACE_API std::optional<std::vector<CurvePoint>>
memoryCurve(Session &session);

/// A table, and {"curve": [{"budget", "saved_bytes", "peak_bytes",
/// "recomputed_calls", "recomputed_flops", "step_ms"}]}.
FORETRACE_API std::string curveText(const std::vector<CurvePoint> &curve);
FORETRACE_API std::string curveJson(const std::vector<CurvePoint> &curve);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_MEMORYCURVE_H
