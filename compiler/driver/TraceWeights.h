//===- TraceWeights.h - Weights of a traced model --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_TRACEWEIGHTS_H
#define FORETRACE_COMPILER_DRIVER_TRACEWEIGHTS_H

#include "compiler/import/Importer.h"

namespace ft {

namespace detail {
struct TraceState;
} // namespace detail

/// The data of the tensors that the trace made fake, where they are. FT0202 for
/// one that was declared without data, or whose data are gone.
std::unique_ptr<WeightSource>
makeTraceWeights(std::shared_ptr<detail::TraceState> trace);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_TRACEWEIGHTS_H
