//===- CheckGraph.h - What the lower stage relies on -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_CHECKGRAPH_H
#define FORETRACE_COMPILER_LOWER_CHECKGRAPH_H

#include "dialects/ft/DType.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ft {

// Whether `@forward` is what the stages before make, so that a text by hand
// cannot break the lowering.

/// One block, annotated values, on the device if one is given, numbers that are
/// known.
/// Reports [FT0309], [FT0311], [FT0501] and [FT0502].
mlir::LogicalResult checkValues(mlir::func::FuncOp forward,
                                std::optional<Device> device = std::nullopt);

/// Every argument says its kind and name, every result that is written back
/// goes to an argument of its shape and dtype. Reports [FT0107]. To be called
/// after checkValues.
mlir::LogicalResult checkInterface(mlir::func::FuncOp forward);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_CHECKGRAPH_H
