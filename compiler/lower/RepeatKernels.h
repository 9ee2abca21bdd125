//===- RepeatKernels.h - Kernels that run again for less memory *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_REPEATKERNELS_H
#define FORETRACE_COMPILER_LOWER_REPEATKERNELS_H

#include "compiler/lower/Schedule.h"

namespace ft {

/// Lets values of a backward program go where memory is short, and repeats the
/// part of their kernel that makes them in front of the next reader
/// (RepeatPlan.h), so that at most `bytes` are live, if that can be: only what
/// forward has done, too (`ft.again`), without effects, and products only with
/// `withProducts`. Schedule::repeated says what was repeated.
///
///   %a = conv(%s)              kernel 1     kernel 1 reads %s, writes %a
///   %b = relu(%a) …late        kernel 2     …
///   …                                       kernel 1' reads %s, writes %a'
///   %c = … %a                  kernel 9     kernel 9 reads %a'
///
/// Needs the steps in their order, the borders of kernels, and the places of
/// arguments and results; sets the borders again. Equal kernels are one
/// function (OutlineKernels.h), so no code is added.
void repeatKernels(Schedule &schedule, int64_t bytes, bool withProducts);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_REPEATKERNELS_H
