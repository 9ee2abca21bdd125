//===- CarriedSizes.h - Sizes that backward knows from nothing -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program reads its symbols from the sizes of its arguments, or makes them
// (`nonzero`). The gradient of a sum needs how many were added, and nothing of
// what they were:
//
//   %y = ft.index(%x, [%mask])             : tensor<?xf32, #ft.meta<[u0]>>
//   %s = ft.sum(%y)
//   %g = ft.expand(%tangent, [{size = "u0"}])         (backward)
//
// Such a size is saved as that of a tensor without elements, [u0, 0], which
// takes no memory.

#ifndef FORETRACE_COMPILER_PARTITION_CARRIEDSIZES_H
#define FORETRACE_COMPILER_PARTITION_CARRIEDSIZES_H

#include "compiler/partition/JointGraph.h"
#include "dialects/ft/TensorMeta.h"

namespace ft {

struct CarriedSize {
  SymExpr symbol;
  mlir::Operation *maker = nullptr; ///< in forward; null: an argument has it
  mlir::Value like; ///< a tensor of forward that is there behind the maker

  mlir::Type type() const;
  /// The tensor, at the builder's place; `source` is `like` there.
  mlir::Value build(mlir::OpBuilder &b, mlir::Value source) const;
};

/// The symbols that calls of backward, in their order, need before one of them
/// has made them, and that no value in `known`, which backward takes, has among
/// its sizes. In the order of the module. Reports [FT0903] for a number that
/// may be negative, and is no size.
mlir::FailureOr<std::vector<CarriedSize>>
carriedSizes(const JointGraph &joint, mlir::ModuleOp module,
             llvm::ArrayRef<mlir::Operation *> backward,
             llvm::ArrayRef<mlir::Value> known);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_CARRIEDSIZES_H
