//===- Placement.h - Where each tensor of the lowered graph lives *- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_PLACEMENT_H
#define FORETRACE_COMPILER_LOWER_PLACEMENT_H

#include "dialects/ft/TensorSizes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace ft {

/// A block of memory of a call (see runtime/src/abi.h).
/// Found: what a kernel allocates when it knows how large its result is;
/// `index` is the output of the model, or kNoOutput. Late: a buffer whose size
/// the data decide, allocated when the kernel that writes it is called.
enum class Region : uint8_t {
  Input,
  Output,
  Weights,
  State,
  Arena,
  Found,
  Late
};
inline constexpr unsigned kNoOutput = ~0U;

/// Where a tensor lives and how it is laid out: a base, a byte offset from it,
/// and one stride for each dim, in elements. `index` numbers inputs and
/// outputs; in the arena it numbers the buffers of the memory plan, whose
/// offset is added when it is known.
struct Placement {
  Region region = Region::Arena;
  unsigned index = 0;
  Dim byteOffset = 0;
  Dims strides;
};

/// Whether a C kernel finds some size of this tensor.
bool isFound(mlir::Value tensor);

/// Bytes of an element in memory (1, 2, 4, 8 or 16), and of all of them.
int64_t elementBytes(mlir::RankedTensorType type);
int64_t tensorBytes(mlir::RankedTensorType type);

Dim tensorBytes(llvm::ArrayRef<Dim> sizes, mlir::Type element);

/// From the first element to the end of the last, in elements.
Dim extentOf(llvm::ArrayRef<Dim> sizes, llvm::ArrayRef<Dim> strides);

/// Row-major strides of a shape; a size that is the number 0 counts as 1.
Dims rowMajorStrides(llvm::ArrayRef<Dim> shape);

/// How the result of a view op (extract_slice, expand_shape, collapse_shape)
/// lies in its operand's memory; nothing if it cannot be described by strides
/// (a collapse of dims that are not adjacent in memory).
std::optional<Placement>
placeView(mlir::Operation *view, const Placement &operand, TensorSizes &sizes);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_PLACEMENT_H
