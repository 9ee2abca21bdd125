//===- ValuesCommand.h - ft-conformance values -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_VALUESCOMMAND_H
#define FORETRACE_TESTS_CONFORMANCE_VALUESCOMMAND_H

#include "compiler/support/CodeChecks.h"
#include "tests/conformance/Report.h"

#include "llvm/Support/Error.h"

namespace ft::conformance {

struct ValuesOptions {
  /// Calls in one artefact.
  unsigned batch = 200;
  /// Of the code that calls are compiled to.
  CodeChecks checks;
  /// Let the reference interpreter (tests/interpreter) evaluate the calls
  /// instead of compiling them; those that it does not know are skipped.
  bool interpreter = false;
  /// Compile every call by itself to an object in memory and print how long
  /// that takes: median, 90th percentile, slowest operators. Nothing runs.
  bool compileTimes = false;
  /// Compile each call for all sizes: a symbol for each size of 2 and more.
  /// What takes no such sizes is skipped, by what the compiler says; what does
  /// is also compared at other sizes (OtherSizes.h).
  bool symbolic = false;
  /// Also compare the gradients of the calls that have any; others are skipped.
  bool grad = false;
  /// Also compare the annotation of every value with the run, as
  /// `foretrace run --verify-fake` does.
  bool verifyFake = false;
  /// Calls are moved to a GPU, which the emulator is. What has no code for it
  /// is skipped (`no-cuda`).
  bool emulated = false;
};

/// Compiles every call of FILE.jsonl whose operator's name matches the glob
/// `op`, runs it on the inputs in FILE.bin and compares results and written
/// arguments.
///
/// Calls are compiled together, up to `batch` in one artefact: most of the time
/// would go into linking and loading otherwise. When an artefact cannot be made
/// or a run of it fails, the calls that the diagnostics name are reported and
/// the others tried again, in halves where no call is named.
llvm::Error runValues(llvm::StringRef file, llvm::StringRef op,
                      const ValuesOptions &options, Report &report);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_VALUESCOMMAND_H
