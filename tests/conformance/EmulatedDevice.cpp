//===- EmulatedDevice.cpp - Models on a GPU that is not there -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/EmulatedDevice.h"

#include <dlfcn.h>

namespace ft::conformance {

llvm::Error loadEmulatedDevice() {
  // Stays loaded: models find it by its name.
  if (dlopen(FORETRACE_EMULATED_CUDA, RTLD_NOW | RTLD_GLOBAL))
    return llvm::Error::success();
  return llvm::createStringError(llvm::StringRef(dlerror()));
}

void moveToEmulatedDevice(Options &options) {
  options.target = "cuda";
  options.device = "cuda:0";
  options.emulateDevice = true;
}

bool isWithoutDeviceCode(llvm::StringRef diagnostics) {
  return diagnostics.contains("[FT0501]") || diagnostics.contains("[FT0006]");
}

} // namespace ft::conformance
