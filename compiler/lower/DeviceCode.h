//===- DeviceCode.h - Which operators have code for a GPU ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_DEVICECODE_H
#define FORETRACE_COMPILER_LOWER_DEVICECODE_H

#include "dialects/ft/Schema.h"

namespace ft {

/// Whether calls of an operator that has a lowering rule become kernels that a
/// GPU can run. False for those that are C kernels, or functions that no device
/// has, whatever their arguments are (HostOnly.def).
bool hasDeviceCode(const Schema &schema);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_DEVICECODE_H
