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

namespace names {
/// On such an op, written by the fake pass where some number is known: one text
/// for each carried value (what its arguments in the regions are) and for each
/// result (what it is behind the op), empty for what is no known number.
inline constexpr llvm::StringLiteral kCarriedNumbers = "ft.carried_numbers";
inline constexpr llvm::StringLiteral kResultNumbers = "ft.result_numbers";
/// On an ft.while: the most iterations that it runs, as the program declares
/// it (an i64). Its derivative needs one.
inline constexpr llvm::StringLiteral kBound = "ft.bound";
} // namespace names
/// The text of a result or of carried value `i`; null if there is none.
mlir::StringAttr numberOfResult(mlir::OpResult result);
mlir::StringAttr numberOfCarried(mlir::Operation *op, unsigned i);

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
