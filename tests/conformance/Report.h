//===- Report.h - Counts and prints what passed ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_REPORT_H
#define FORETRACE_TESTS_CONFORMANCE_REPORT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>

namespace ft::conformance {

/// What a run found. One line is printed for each failure as it happens:
///
///   FAIL 1129 add.Tensor: expected float32 [2] …; got float32 [3] …
///
/// and at the end the counts, with the skips by reason:
///
///   21500 passed, 3 failed, 476 skipped (kernel 348, overlap 104, value 24)
class Report {
public:
  explicit Report(llvm::raw_ostream &os) : os(os) {}

  void pass() { ++passed; }
  void skip(llvm::StringRef reason) { ++skipped[reason.str()]; }
  /// The same with a line about the case.
  void skip(llvm::StringRef reason, llvm::StringRef id, llvm::StringRef why);
  /// `id` names the case, `group` what failures are counted by (an operator, a
  /// model).
  void fail(llvm::StringRef id, llvm::StringRef group, llvm::StringRef expected,
            llvm::StringRef got);
  /// Counted and printed at the end, without a verdict.
  void note(llvm::StringRef what, int64_t count = 1) {
    notes[what.str()] += count;
  }
  /// The same with a line about the case.
  void note(llvm::StringRef what, llvm::StringRef id, llvm::StringRef why);

  /// Prints the notes, the failures by group if asked for, and the counts.
  void finish(bool byGroup);
  bool ok() const { return failed == 0; }

  int64_t passed = 0, failed = 0;
  std::map<std::string, int64_t> skipped;

private:
  llvm::raw_ostream &os;
  std::map<std::string, int64_t> notes, groups;
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_REPORT_H
