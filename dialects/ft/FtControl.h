//===- FtControl.h - Ops: branches and loops --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FtControl.td.

#ifndef FORETRACE_DIALECTS_FT_FTCONTROL_H
#define FORETRACE_DIALECTS_FT_FTCONTROL_H

#include "dialects/ft/AtenCall.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"

namespace ft {

/// Whether `op` is ft.cond, ft.while or ft.scan.
bool isControl(mlir::Operation *op);

/// The operand that an argument of a region of such an op shows in every run of
/// the region; null for carried values and slices, which change from one
/// iteration to the next.
///
///   ft.while(%i, %x) captured(%w)  cond (%k, %a, %b) …  do (%k, %a, %b) …
///     %k, %a → null     %b → %w
mlir::Value capturedBy(mlir::BlockArgument argument);

/// Equal, or one of the two is a tensor that is not annotated yet.
bool typesAgree(mlir::Type a, mlir::Type b);

// Shared by the ops (see Ft_ControlOp in FtControl.td).

/// Whether each region yields what the results and the next iteration need.
llvm::LogicalResult verifyControlYields(mlir::Operation *op);
/// The names in `ft.graphs`.
void controlArgumentNames(mlir::Region &region,
                          mlir::OpAsmSetValueNameFn setNameFn);

} // namespace ft

#define GET_OP_CLASSES
#include "dialects/ft/FtControl.h.inc"

#endif // FORETRACE_DIALECTS_FT_FTCONTROL_H
