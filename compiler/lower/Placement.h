//===- Placement.h - Where each tensor of the lowered graph lives *- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_PLACEMENT_H
#define FORETRACE_COMPILER_LOWER_PLACEMENT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace ft {

/// A block of memory of a call (see runtime/src/abi.h).
/// Found: what a kernel allocates when it knows how large its result is;
/// `index` is the output of the model, or kNoOutput.
enum class Region : uint8_t { Input, Output, Weights, State, Arena, Found };
inline constexpr unsigned kNoOutput = ~0U;

/// Where a tensor lives and how it is laid out: a base, a byte offset from it,
/// and one stride for each dim, in elements. `index` numbers inputs and
/// outputs; in the arena it numbers the buffers of the memory plan, whose
/// offset is added when it is known.
struct Placement {
  Region region = Region::Arena;
  unsigned index = 0;
  int64_t byteOffset = 0;
  llvm::SmallVector<int64_t, 6> strides;
};

/// Whether a kernel finds some size of this tensor.
inline bool isFound(mlir::Value tensor) {
  return !llvm::cast<mlir::RankedTensorType>(tensor.getType()).hasStaticShape();
}

/// Bytes of an element in memory (1, 2, 4, 8 or 16), and of all of them.
int64_t elementBytes(mlir::RankedTensorType type);
int64_t tensorBytes(mlir::RankedTensorType type);

/// Row-major strides of a static shape.
llvm::SmallVector<int64_t, 6> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// How the result of a view op (extract_slice, expand_shape, collapse_shape)
/// lies in its operand's memory; nothing if it cannot be described by strides
/// (a collapse of dims that are not adjacent in memory).
std::optional<Placement> placeView(mlir::Operation *view,
                                   const Placement &operand);

/// Elements from the first to behind the last one that the strides reach.
int64_t strideExtent(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> strides);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_PLACEMENT_H
