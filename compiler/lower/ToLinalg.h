//===- ToLinalg.h - ft calls to linalg on builtin tensors ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_TOLINALG_H
#define FORETRACE_COMPILER_LOWER_TOLINALG_H

#include "dialects/ft/DType.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ft {

/// Replaces `@forward`, a functional and annotated graph of static shapes, by
/// one on builtin tensors without encodings, made of linalg, tensor, arith,
/// math and complex ops and `ft.check_index`.
///
/// Arguments keep their attributes and get `ft.meta`, the annotated type; new
/// ones of kind "packed" are constants in another layout. An argument's tensor
/// has the logical shape; its memory is in the annotated strides. Results are
/// in logical order; `ft.meta` on them likewise.
///
/// `panelWidth` gives the lanes of a weight panel for a dtype on a device (the
/// target's). `isMixed`: the graph is on two devices; what is read on the other
/// one is copied there first (ValueDevices.h).
/// Errors: FT0501 lists all calls without a rule, with their reasons; FT0502
/// for values on the meta device; FT0311 for symbolic shapes.
mlir::LogicalResult
lowerToLinalg(mlir::ModuleOp module,
              llvm::function_ref<int64_t(DType, Device)> panelWidth,
              bool isMixed = false);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_TOLINALG_H
