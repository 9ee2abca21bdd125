//===- CompileTimes.h - How long programs of one call take -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_COMPILETIMES_H
#define FORETRACE_TESTS_CONFORMANCE_COMPILETIMES_H

#include "tests/conformance/GraphBuilder.h"
#include "tests/conformance/OpCase.h"
#include "tests/conformance/Report.h"

namespace ft {
class SymContext;
}

namespace ft::conformance {

/// The results that a call has in the graph: none for an operator that returns
/// nothing, for which the file says null.
unsigned resultCount(const ValueCase &test);

/// How many of its results are outputs of the graph.
size_t outputCount(const ValueCase &test);

/// Adds the call with inputs for its tensors and outputs for its results.
/// With `symbols`, for all sizes (ValuesOptions::symbolic).
void addValueCall(GraphBuilder &graph, const ValueCase &test,
                  SymContext *symbols = nullptr, bool withGradients = false);

/// Compiles each call as a program of its own, from its text to the object in
/// memory (nothing is linked or loaded), and prints median, 90th percentile and
/// the slowest operators, in milliseconds of the process's CPU time: what other
/// programs do at the same time does not count. Calls that do not compile are
/// skips.
void measureCompileTimes(llvm::ArrayRef<ValueCase> tests, Report &report);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_COMPILETIMES_H
