//===- Retarget.h - Moves a model to another device ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_RETARGET_H
#define FORETRACE_COMPILER_DRIVER_RETARGET_H

#include "dialects/ft/DType.h"

#include "mlir/IR/BuiltinOps.h"

namespace ft {

/// Moves every value of a module in front of stage fake to the device: the
/// annotations of inputs, parameters and constants, what the archive claims of
/// the others, and the devices that calls name (`device = cpu` of a factory, of
/// `to`). What the devices of results are then is worked out by stage fake, by
/// the rules of the operators. Returns whether anything was elsewhere.
bool moveModule(mlir::ModuleOp module, Device device);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_RETARGET_H
