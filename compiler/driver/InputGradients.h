//===- InputGradients.h - Inputs whose gradient is asked for ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_INPUTGRADIENTS_H
#define FORETRACE_COMPILER_DRIVER_INPUTGRADIENTS_H

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ft {

/// Before stage autograd: marks the inputs of these names as requiring a
/// gradient. FT0001 for a name that no input of floating-point numbers has.
llvm::Error askForGradients(mlir::ModuleOp module,
                            llvm::ArrayRef<std::string> names);

/// After it: FT0802 if one of them got none.
llvm::Error checkGradientsAsked(mlir::ModuleOp module,
                                llvm::ArrayRef<std::string> names);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_INPUTGRADIENTS_H
