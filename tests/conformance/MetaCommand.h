//===- MetaCommand.h - ft-conformance meta ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_METACOMMAND_H
#define FORETRACE_TESTS_CONFORMANCE_METACOMMAND_H

#include "tests/conformance/SymbolicCheck.h"

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
/// With `symbolic`, calls that give results are done once more with symbols for
/// their sizes (SymbolicCheck.h), and what is counted is only that.
llvm::Error runMeta(llvm::StringRef file, llvm::StringRef op, Report &report,
                    const SymbolicOptions *symbolic = nullptr);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_METACOMMAND_H
