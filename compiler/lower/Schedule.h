//===- Schedule.h - Kernels in order, and where their tensors live *- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_SCHEDULE_H
#define FORETRACE_COMPILER_LOWER_SCHEDULE_H

#include "compiler/lower/MemoryPlan.h"
#include "compiler/lower/Placement.h"
#include "compiler/lower/Plan.h"
#include "compiler/lower/PlanSymbols.h"
#include "compiler/lower/ValueDevices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

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

struct Schedule;

/// What a schedule is built for.
struct ScheduleOptions {
  /// Of the model, whose symbols the function of a region has.
  const Plan *outer = nullptr;
  /// Of the memory plan.
  int64_t redZone = 0;
  /// What the function returns as "saved" stays in the arena for a program that
  /// runs later.
  bool keepsSaved = false;
  /// The program that ran before on the same arena: its saved values are there
  /// and its memory plan goes on.
  const Schedule *before = nullptr;
  ValueDevices devices = {};
  /// The bytes that are to be enough, for which kernels may be repeated, and
  /// whether those with products may.
  std::optional<int64_t> peak = std::nullopt;
  bool peakByProducts = false;
};

/// The lowered `@forward` as steps on planned memory.
///
/// Parameters, buffers and constants that something reads get their place in
/// the weights (row-major), written buffers also one in the state block.
/// Results of kernels live in the arena, those that the model returns directly
/// in the caller's output. Written-back buffers and inputs are copied at the
/// end, when nothing reads their old value any more.
///
/// Forward and backward of a model that is trained are one time line on one
/// arena: backward starts with the plan of forward, and the number of its last
/// step. A saved value is a buffer that lives from the kernel of forward that
/// writes it to its last reader in backward, and needs no memory of its own.
struct Schedule {
  std::vector<ScheduledKernel> kernels;
  std::vector<ScheduleStep> steps;
  /// Of every tensor that crosses a kernel's border.
  llvm::DenseMap<mlir::Value, Placement> placements;
  MemoryPlan memory;
  /// The number of the first step in the memory plan.
  unsigned firstStep = 0;
  /// Buffers of saved values, by the names of the results.
  llvm::StringMap<unsigned> saved;
  /// Outputs of kernels that the memory plan may put where an input dies.
  struct Tie {
    int kernel;
    unsigned input;
    /// Of the output.
    unsigned buffer;
  };
  std::vector<Tie> ties;
  /// A call of a kernel that is repeated (RepeatKernels.h): where it stands,
  /// the operator, and whether its product is repeated or only what is around
  /// it.
  struct Repeated {
    mlir::Location location;
    std::string from;
    bool isProduct = false;
  };
  std::vector<Repeated> repeated;
  /// Symbols that the sizes of inputs tell, in all programs so far.
  llvm::StringSet<> told;
  /// Memory of sizes that the data decide.
  std::vector<LateBuffer> late;
  Plan plan;
  /// The sizes of the function's tensors.
  TensorSizes sizes;
  /// Where they live. In a graph on two devices there are two arenas of one
  /// plan: a buffer has its place in the one of its device.
  ValueDevices devices;
  /// The guards that code has to check.
  std::vector<SizeGuard> guards;

  /// Whether a kernel's output was given the memory of one of its inputs.
  bool isSameMemory(mlir::Value input, mlir::Value output) const {
    Placement a = placements.lookup(input), b = placements.lookup(output);
    return a.region == b.region && a.index == b.index &&
           a.byteOffset == b.byteOffset &&
           (a.region == Region::Input || a.region == Region::State);
  }

  /// Of a tensor; nothing if it is not known.
  llvm::ArrayRef<Dim> shapeOf(mlir::Value tensor) {
    std::optional<llvm::ArrayRef<Dim>> shape = sizes.of(tensor);
    return shape ? *shape : llvm::ArrayRef<Dim>();
  }
  /// Whether the inputs tell every symbol of a size.
  bool isTold(Dim size) const;
  /// The size with symbols at their hints; 0 if that is no number.
  int64_t atHints(Dim size) const;

  /// Builds the schedule of `function`, as lowerToLinalg left it; inserts the
  /// copies that the boundary and non-contiguous reshapes need.
  static mlir::FailureOr<Schedule> build(mlir::func::FuncOp function,
                                         const ScheduleOptions &options);
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_SCHEDULE_H
