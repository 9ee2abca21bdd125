//===- Locations.h - Places in the user's own source -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_PT2_LOCATIONS_H
#define FORETRACE_COMPILER_IMPORT_PT2_LOCATIONS_H

#include "mlir/IR/Location.h"

#include "llvm/ADT/StringRef.h"

namespace ft::pt2 {

struct Node;

/// The location of a node:
///
///   loc("linear"(fused<"up:
///   torch.nn.modules.linear.Linear">["block.py":14:0]))
///
/// its name around the frames of its `stack_trace`, innermost first (a call
/// site chain), fused with the module that it ran in (the last entry of
/// `nn_module_stack`). Frames of installed packages (site-packages,
/// dist-packages) are left out unless there are no others.
mlir::Location nodeLocation(mlir::MLIRContext &context, const Node &node);

/// "block.py:14 (linear)"; the archive stands in for an unknown file. For
/// messages.
std::string nodePlace(const Node &node, llvm::StringRef archive);

} // namespace ft::pt2

#endif // FORETRACE_COMPILER_IMPORT_PT2_LOCATIONS_H
