//===- SymbolicCheck.h - One call with symbols for its sizes ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recorded call once more, with a symbol for each size of its tensors:
//
//   add(float32 [3, 4], float32 [4])    recorded: float32 [3, 4]
//   add(float32 [a, b], float32 [c])    float32 [a, b], guard b == c
//
// - At the recorded sizes the result is the recorded one.
// - At other sizes that satisfy the guards it is what the call gives with those
//   sizes as plain numbers: a guard that is missing is a failure.
// - At sizes that a guard refuses the plain call fails, or gives another layout
//   than the formula says: a guard that refuses more than it has to is counted
//   (`spurious`), and shown if asked for.

#ifndef FORETRACE_TESTS_CONFORMANCE_SYMBOLICCHECK_H
#define FORETRACE_TESTS_CONFORMANCE_SYMBOLICCHECK_H

#include "compiler/fake/FakeCall.h"
#include "tests/conformance/OpCase.h"
#include "tests/conformance/Report.h"

namespace ft::conformance {

struct SymbolicOptions {
  /// Print the guards that refuse sizes which the call takes.
  bool showSpurious = false;
};

/// `metas`: the tensors of the call. Only for calls whose plain form gives the
/// recorded results.
void checkSymbolic(const MetaCase &test, llvm::ArrayRef<TensorMeta> metas,
                   const SymbolicOptions &options, Report &report);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_SYMBOLICCHECK_H
