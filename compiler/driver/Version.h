//===- Version.h - Which compiler this is ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_VERSION_H
#define FORETRACE_COMPILER_DRIVER_VERSION_H

#include "compiler/support/Export.h"

namespace ft {

/// "0.1.0": of the library that is loaded, which need not be that of the
/// headers.
FORETRACE_API const char *foretraceVersion();
/// "22.1.8": of the LLVM and MLIR that it was built with.
FORETRACE_API const char *llvmVersion();

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_VERSION_H
