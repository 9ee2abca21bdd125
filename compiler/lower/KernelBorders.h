//===- KernelBorders.h - What crosses the border of a kernel ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_KERNELBORDERS_H
#define FORETRACE_COMPILER_LOWER_KERNELBORDERS_H

#include "compiler/lower/Schedule.h"

namespace ft {

/// Sets inputs, outputs, symbols and numbers of each kernel of a schedule. A
/// copy that writes an argument back has that argument's place.
void collectBorders(
    Schedule &schedule,
    llvm::ArrayRef<std::pair<mlir::Operation *, mlir::BlockArgument>>
        writeBacks);

/// Sets them again for every kernel whose operations have changed.
void collectBordersAgain(Schedule &schedule);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_KERNELBORDERS_H
