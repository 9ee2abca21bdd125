//===- MergeCalls.h - One call for those that are the same -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_AUTOGRAD_MERGECALLS_H
#define FORETRACE_COMPILER_AUTOGRAD_MERGECALLS_H

#include "mlir/IR/Block.h"

namespace ft {

/// Uses the first of calls that are the same, names apart, for all of them, and
/// removes calls without a use. Calls with effects (random ones too) stay.
/// Regions of the block's operations are gone through, each for itself.
///
///   %1 = ft.cos(%0)                     %1 = ft.cos(%0)
///   %7 = ft.cos(%0)     (a backward)    uses of %7 are uses of %1
///
/// Before gradients are made, a call where they are switched off (ft.no_grad)
/// is another than one where they are not.
///
/// Cost: one hash of operands and arguments for each call.
void mergeCalls(mlir::Block &body, bool beforeGradients = false);

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_MERGECALLS_H
