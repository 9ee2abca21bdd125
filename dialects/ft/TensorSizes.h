//===- TensorSizes.h - Sizes of builtin tensors of the run -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A builtin tensor says `?` where a size is of the run. Which size it is
// follows from the operation that made it, and ends at an `ft.size_of`:
//
//   %n = ft.size_of "s0*64"
//   %e = tensor.empty(%n)                       [s0*64]
//   tensor.expand_shape %e … output_shape [%s, 64]     [s0, 64]

#ifndef FORETRACE_DIALECTS_FT_TENSORSIZES_H
#define FORETRACE_DIALECTS_FT_TENSORSIZES_H

#include "compiler/shape/Dim.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/OpDefinition.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <optional>

namespace ft {

class TensorSizes {
public:
  /// The sizes of a tensor, or of a memref that was said. Nothing if they
  /// cannot be told.
  std::optional<llvm::ArrayRef<Dim>> of(mlir::Value value);
  /// Says the sizes of an argument.
  void say(mlir::Value value, llvm::ArrayRef<Dim> dims);
  /// Of results of an operation that is about to go.
  void forget(mlir::Operation *op);
  /// How many steps each loop has.
  Dims loops(mlir::linalg::GenericOp op);
  /// The number that an offset, size or stride operand is.
  static std::optional<Dim> dimOf(mlir::OpFoldResult value);
  static std::optional<Dims> dimsOf(llvm::ArrayRef<mlir::OpFoldResult> values);

private:
  std::optional<Dims> compute(mlir::Value value);

  /// Null: asked for and unknown. Pointers, so that answers stay where they
  /// are.
  llvm::DenseMap<mlir::Value, std::unique_ptr<Dims>> known;
};

/// Whether some size is the number 0.
inline bool hasNoElements(llvm::ArrayRef<Dim> sizes) {
  return llvm::any_of(sizes, [](Dim d) { return d.is(0); });
}

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_TENSORSIZES_H
