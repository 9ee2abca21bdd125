//===- CodeChecks.h - What generated code checks of itself -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_CODECHECKS_H
#define FORETRACE_COMPILER_SUPPORT_CODECHECKS_H

namespace ft {

/// For tests and for hunting bugs of this compiler; all of it is slow.
/// compiler/codegen/cpu/README.md, "Checked builds", says what each sees.
struct CodeChecks {
  /// Compare every load and store of kernels with the memory that they are
  /// given, and what they are given with the memory that there is: one outside,
  /// or not aligned as claimed, ends the call with FT_ERROR_ACCESS.
  bool accesses = false;
  /// Instrument generated code for AddressSanitizer and link the instrumented
  /// runtime: only a program that has AddressSanitizer can load the model.
  bool address = false;
  /// End the call with FT_ERROR_ACCESS where generated code uses a value that
  /// LLVM leaves undefined.
  bool undefined = false;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_CODECHECKS_H
