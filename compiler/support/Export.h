//===- Export.h - Marks what the shared library shows ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_EXPORT_H
#define FORETRACE_COMPILER_SUPPORT_EXPORT_H

/// On declarations of the public C++ API: everything else is compiled with
/// hidden visibility and cannot be named from outside libForetrace.
#define FORETRACE_API __attribute__((visibility("default")))

#endif // FORETRACE_COMPILER_SUPPORT_EXPORT_H
