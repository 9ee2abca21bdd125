//===- LibraryFile.h - Checks libraries before they are loaded -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_LIBRARYFILE_H
#define FORETRACE_COMPILER_SUPPORT_LIBRARYFILE_H

#include "compiler/support/Diagnostics.h"

namespace ft {

/// Whether the file is a 64-bit ELF file with all of its segments; fails as
/// `id`, at `path`. The loader maps the segments that the head names without a
/// look at the file's size: a library that was cut short would be a bus error.
llvm::Error checkLibraryFile(llvm::StringRef path, DiagId id);

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_LIBRARYFILE_H
