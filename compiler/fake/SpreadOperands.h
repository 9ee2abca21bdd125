//===- SpreadOperands.h - Broadcasting made explicit -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where only the run knows which operand of a call is broadcast (see
// compiler/shape/Broadcast.h), each that may be is expanded in front of the
// call, so that later stages see operands of one size:
//
//   ft.fact "s0 == s1 | s0 == 1 | s1 == 1"
//   %2 = ft.mul(%x, %y)       →      %0 = ft.expand(%x, [Max(s0, s1)])
//                                    %1 = ft.expand(%y, [Max(s0, s1)])
//                                    %2 = ft.mul(%0, %1)
//
// An expand whose operand may have either size is a view of a stride that is 0
// or not, and its derivative a sum over as much as was repeated.

#ifndef FORETRACE_COMPILER_FAKE_SPREADOPERANDS_H
#define FORETRACE_COMPILER_FAKE_SPREADOPERANDS_H

#include "mlir/IR/BuiltinOps.h"

namespace ft {

/// Spreads the operands of the calls of `@forward`, which is functional and
/// annotated; the annotations of its calls stay. Reports what checkFake(Shapes)
/// would. Cost: that of checkFake, twice where it finds something; nothing
/// where all sizes are numbers.
mlir::LogicalResult spreadOperands(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_SPREADOPERANDS_H
