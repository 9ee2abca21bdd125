//===- EntryFunction.h - The function that runs a schedule -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_ENTRYFUNCTION_H
#define FORETRACE_COMPILER_LOWER_ENTRYFUNCTION_H

#include "compiler/lower/Lower.h"
#include "compiler/lower/Schedule.h"

namespace ft {

/// Emits `@ft_gen_forward` (runtime/src/abi.h): the kernels of the schedule as
/// calls on windows into inputs, outputs, arena, weights and state, and the
/// index checks between them. Solves the memory plan, since only now it is
/// known which kernels want scratch memory, and completes `schedule.plan`.
/// The functions of regions that it runs become functions of the same form.
mlir::LogicalResult emitEntryFunction(mlir::ModuleOp module, Schedule &schedule,
                                      const LowerOptions &options);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_ENTRYFUNCTION_H
