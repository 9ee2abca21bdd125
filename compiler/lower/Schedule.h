//===- Schedule.h - Kernels in order, and where their tensors live *- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_SCHEDULE_H
#define FORETRACE_COMPILER_LOWER_SCHEDULE_H

#include "compiler/lower/MemoryPlan.h"
#include "compiler/lower/Placement.h"
#include "compiler/lower/Plan.h"
#include "compiler/lower/PlanSymbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ft {

/// A kernel of the schedule: its operations in program order, the tensors that
/// it reads from memory and those that it writes there.
struct ScheduledKernel {
  llvm::SmallVector<mlir::Operation *, 4> ops;
  llvm::SmallVector<mlir::Value, 4> inputs;
  llvm::SmallVector<mlir::Value, 2> outputs;
  /// The symbols of the sizes of its tensors and of its arithmetic, sorted.
  std::vector<std::string> symbols;
  /// These sizes and the numbers of its arithmetic.
  llvm::SmallSetVector<SymExpr, 4> numbers;
};

/// One step of the entry function: a kernel, or a `ft.check_…`.
struct ScheduleStep {
  int kernel = -1;
  mlir::Operation *check = nullptr;
};

/// Memory that is asked for when its size is known: for a result of a kernel
/// that is no output of the function, or (`sizes` and `strides`) for one.
struct LateBuffer {
  Dim bytes = 0;
  int output = -1;
  Dims sizes = {}, strides = {};
};

/// The lowered `@forward` as steps on planned memory.
///
/// Parameters, buffers and constants that something reads get their place in
/// the weights (row-major), written buffers also one in the state block.
/// Results of kernels live in the arena, those that the model returns directly
/// in the caller's output. Written-back buffers and inputs are copied at the
/// end, when nothing reads their old value any more.
struct Schedule {
  std::vector<ScheduledKernel> kernels;
  std::vector<ScheduleStep> steps;
  /// Of every tensor that crosses a kernel's border.
  llvm::DenseMap<mlir::Value, Placement> placements;
  MemoryPlan memory;
  /// Memory of sizes that the data decide.
  std::vector<LateBuffer> late;
  Plan plan;
  /// The sizes of the function's tensors.
  TensorSizes sizes;
  /// The guards that code has to check.
  std::vector<SizeGuard> guards;

  /// Builds the schedule of `function`, as lowerToLinalg left it; inserts the
  /// copies that the boundary and non-contiguous reshapes need. `outer`: of the
  /// model, whose symbols the function of a region has. `redZone`: of the
  /// memory plan.
  static mlir::FailureOr<Schedule> build(mlir::func::FuncOp function,
                                         const Plan *outer = nullptr,
                                         int64_t redZone = 0);
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_SCHEDULE_H
