//===- AsanOptions.cpp - Options of AddressSanitizer -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's arenas poison their free memory where headers are compiled with
// AddressSanitizer; Debian's libLLVM and libMLIR are not, and use it.

extern "C" const char *__asan_default_options();
extern "C" __attribute__((visibility("default"))) const char *
__asan_default_options() {
  return "allow_user_poisoning=0";
}
