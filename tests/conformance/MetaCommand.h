//===- MetaCommand.h - ft-conformance meta ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_METACOMMAND_H
#define FORETRACE_TESTS_CONFORMANCE_METACOMMAND_H

#include "tests/conformance/Report.h"

#include "llvm/Support/Error.h"

namespace ft::conformance {

/// Propagates every call of FILE.jsonl[.gz] whose operator's name matches the
/// glob `op` ("add.*"; empty: all) and compares the results' metadata.
///
/// - Where FakeTensor and the real kernel disagree, the kernel is right, except
///   that calls which it refuses for its own reasons are skipped by reason
///   (`kernel`, `value`, `overlap`) and both answers count where it is merely
///   stricter (`metadata`).
/// - A call that must fail passes if it fails; differing categories are
/// counted.
/// - An operator without a rule fails, also where an error is expected.
llvm::Error runMeta(llvm::StringRef file, llvm::StringRef op, Report &report);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_METACOMMAND_H
