//===- Lines.h - Reads text files, plain or gzipped ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_LINES_H
#define FORETRACE_TESTS_CONFORMANCE_LINES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ft::conformance {

/// The whole file; one that is compressed with gzip is decompressed.
llvm::Expected<std::string> readText(llvm::StringRef path);

/// Calls `use` for each line that is not empty, and stops at its first error.
llvm::Error
forEachLine(llvm::StringRef path,
            llvm::function_ref<llvm::Error(llvm::StringRef line)> use);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_LINES_H
