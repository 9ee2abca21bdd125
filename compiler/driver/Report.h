//===- Report.h - A module as text, JSON or a graph ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_REPORT_H
#define FORETRACE_COMPILER_DRIVER_REPORT_H

#include "compiler/driver/Session.h"

#include <string>

namespace ft {

/// The values of the module in the order of the program: name, operation,
/// dtype, shape, strides, storage. Storages are numbered in the order in which
/// they appear; views and in-place results carry the number of their base.
/// After lower there are no such values: the text is the MLIR module.
FORETRACE_API std::string reportText(const Session &session);

/// {"stage", "model", "values": {NAME: {"op", "shape", "stride", "offset",
/// "dtype", "device", "storage", "requires_grad"}}, "symbols": {NAME: {"lower",
/// "upper", "hint", "source", "title"}}, "guards": [RELATION], "outputs"}.
/// Sizes are numbers, strings where symbolic; a value that is not annotated yet
/// has what the archive declares, under "declared". After lower:
/// {"stage", "model", "kernels"}.
FORETRACE_API std::string reportJson(const Session &session);

/// A digraph in Graphviz' language; a node for each operation.
FORETRACE_API std::string reportDot(const Session &session);

/// The kernels that lower formed, one a line: name, operations, operands.
FORETRACE_API std::string reportKernels(const Session &session);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_REPORT_H
