//===- EmulatedDevice.h - Models on a GPU that is not there ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_EMULATEDDEVICE_H
#define FORETRACE_TESTS_CONFORMANCE_EMULATEDDEVICE_H

#include "compiler/driver/Options.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ft::conformance {

/// Loads the driver of tests/emulator, so that models that open libcuda.so.1
/// find that one.
llvm::Error loadEmulatedDevice();

/// Moves a model to the device, and its kernels into the form that it runs.
void moveToEmulatedDevice(Options &options);

/// Whether a compilation failed because something has no code for a device.
bool isWithoutDeviceCode(llvm::StringRef diagnostics);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_EMULATEDDEVICE_H
