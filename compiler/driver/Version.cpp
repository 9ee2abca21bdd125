//===- Version.cpp - Which compiler this is --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Version.h"

namespace ft {

const char *foretraceVersion() { return FORETRACE_VERSION; }
const char *llvmVersion() { return FORETRACE_LLVM_VERSION; }

} // namespace ft
