//===- StepOrder.h - Steps in the order of least memory --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_STEPORDER_H
#define FORETRACE_COMPILER_LOWER_STEPORDER_H

#include "compiler/lower/KernelOrder.h"
#include "compiler/lower/Schedule.h"

namespace ft {

/// The steps of a schedule, and their tensors: each storage in the arena counts
/// with its bytes, at the hints. Needs the borders of kernels, and the places
/// of arguments and results.
struct StepProblem {
  OrderProblem problem;
  /// What is behind each number, and the numbers.
  std::vector<mlir::Value> roots;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
};
StepProblem problemOf(Schedule &schedule);

/// Puts the steps into the order that needs least memory (KernelOrder.h). What
/// checks sizes or data, has effects or writes memory of the caller stays where
/// it is, with all that stands before and behind it.
void reorderSteps(Schedule &schedule);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_STEPORDER_H
