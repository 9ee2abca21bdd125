//===- DeviceSchedule.h - What a GPU cannot be given yet -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_DEVICESCHEDULE_H
#define FORETRACE_COMPILER_LOWER_DEVICESCHEDULE_H

#include "compiler/lower/Schedule.h"

namespace ft {

/// Reports every step of a schedule that has code for the CPU only, all at once
/// (FT0501): C kernels (factorisations, sorting, custom operators), branches
/// and loops, memory whose size the data decide, buffers that the model writes.
mlir::LogicalResult checkDeviceSchedule(const Schedule &schedule,
                                        mlir::Location loc);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_DEVICESCHEDULE_H
