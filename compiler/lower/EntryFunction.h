//===- EntryFunction.h - The function that runs a schedule -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_ENTRYFUNCTION_H
#define FORETRACE_COMPILER_LOWER_ENTRYFUNCTION_H

#include "compiler/lower/Lower.h"
#include "compiler/lower/Schedule.h"

#include <memory>

namespace ft {

class EntryEmitter;

/// A program between its schedule and its code. In between, the memory plan is
/// solved, for all programs on one arena at once: only when the kernels are
/// there it is known which of them want scratch memory.
class PlannedProgram {
public:
  PlannedProgram(mlir::ModuleOp module, Schedule schedule,
                 const LowerOptions &options);
  ~PlannedProgram();

  /// Makes the kernels of the schedule, and adds what they and the functions of
  /// regions need to its memory plan. Those functions are emitted here.
  mlir::LogicalResult plan();

  /// Emits `@ft_gen_forward` (runtime/src/abi.h): the kernels as calls on
  /// windows into inputs, outputs, arena, weights and state, and the checks
  /// between them; attaches the completed plan to the module. The program uses
  /// the first `slots` slots of the arena.
  void emit(size_t slots);

  mlir::ModuleOp module;
  Schedule schedule;

private:
  std::unique_ptr<EntryEmitter> emitter;
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_ENTRYFUNCTION_H
