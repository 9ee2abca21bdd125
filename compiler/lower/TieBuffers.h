//===- TieBuffers.h - Outputs in the memory of inputs that die -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_TIEBUFFERS_H
#define FORETRACE_COMPILER_LOWER_TIEBUFFERS_H

#include "compiler/lower/Schedule.h"

namespace ft {

/// Offers the memory plan to put the only output of a kernel where an input
/// dies that the kernel reads as it writes: element by element.
///
///   %1 = relu(%0)   nothing reads %0 later: %1 may lie where %0 lay
///
/// Needs the steps in their last order, and every buffer in the plan.
void tieBuffers(Schedule &schedule);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_TIEBUFFERS_H
