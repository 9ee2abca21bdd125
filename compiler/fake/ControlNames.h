//===- ControlNames.h - Names of branches and loops, for messages -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_CONTROLNAMES_H
#define FORETRACE_COMPILER_FAKE_CONTROLNAMES_H

#include "dialects/ft/FtControl.h"

namespace ft {

/// "'mul'", or what the value is if it has no name: "argument 0".
std::string nameOf(mlir::Value value);
/// "ft.cond 'getitem'": the op with the name that the archive has for it.
std::string nameOf(mlir::Operation *op);
/// "'true_graph_0'", or the region's keyword.
std::string nameOf(mlir::Region &region);

/// What a region of ft.cond, ft.while or ft.scan ends in.
YieldOp yieldOf(mlir::Region &region);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_CONTROLNAMES_H
