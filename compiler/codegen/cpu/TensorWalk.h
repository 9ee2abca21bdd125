//===- TensorWalk.h - What reading one tensor element involves -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is a small graph of ops on tensors. An element of a result is read
// by going backwards: a pointwise op reads its operands at mapped coordinates,
// a reshape only changes the coordinates, an input is memory. TensorReader
// (TensorReader.h) does this and emits code; TensorWalk does the same without
// code and reports what would be touched, so that loops can be chosen first:
//
//   out[i, j] = exp(x[j, i] - max_k x[k, i])
//     accesses   x at j*8+i,  x at k*8+i
//     reductions max at [i]

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_TENSORWALK_H
#define FORETRACE_COMPILER_CODEGEN_CPU_TENSORWALK_H

#include "compiler/codegen/cpu/IndexExpr.h"
#include "compiler/codegen/cpu/KernelSizes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace ft {

using Coords = llvm::SmallVector<IndexExpr, 4>;

/// `low <= expr < high`.
struct IndexCondition {
  IndexExpr expr;
  Dim low, high;
};

/// One step through an op that moves elements without computing: the element
/// is `source` at `coords` if all conditions hold, else `otherwise`: a scalar
/// (padding) or a tensor at the coordinates asked for (insert_slice).
struct ViewStep {
  mlir::Value source;
  Coords coords;
  llvm::SmallVector<IndexCondition, 2> conditions;
  mlir::Value otherwise;
};

/// The step through `op`, or nothing if it is no such op.
std::optional<ViewStep> stepThroughView(mlir::Operation *op,
                                        llvm::ArrayRef<IndexExpr> coords,
                                        IndexSpace &space);

/// The memref that a tensor is the content of, or null.
mlir::Value memoryOf(mlir::Value tensor);

/// Element strides of a memref; dynamic ones as ShapedType::kDynamic.
llvm::SmallVector<int64_t> staticStrides(mlir::MemRefType type);

/// Where the element at `coords` of a memref argument is, in elements.
IndexExpr offsetOf(mlir::Value memref, llvm::ArrayRef<IndexExpr> coords,
                   IndexSpace &space);

/// Sets `dims` (one per loop of `op`) from the coordinates of result `result`.
/// False if the output map does not determine them.
bool loopsFromResult(mlir::linalg::GenericOp op, unsigned result,
                     llvm::ArrayRef<IndexExpr> coords, Coords &dims,
                     IndexSpace &space);

/// The index that `value` (inside the body of a generic with loops `dims`) is,
/// if it is an affine function of the loops.
std::optional<IndexExpr> affineIndex(mlir::Value value,
                                     llvm::ArrayRef<IndexExpr> dims,
                                     IndexSpace &space);

/// Relative cost of an op of a body for one element; 1 is an addition.
int64_t bodyOpCost(mlir::Operation *op);

/// The operands of `op`, and what its regions use from outside of it.
llvm::SmallVector<mlir::Value> usedBy(mlir::Operation *op);

/// Whether vectors of `op` are taken apart: calls of libm, and the division of
/// integers, which has no vector instruction.
bool runsLaneByLane(mlir::Operation *op);

class TensorWalk {
public:
  struct Access {
    mlir::Value memory; ///< memref, or the constant
    IndexExpr offset;   ///< in elements
    int64_t bytes;      ///< of an element
    /// Product of the sizes of the reduction loops around it, estimated.
    int64_t times;
  };
  struct Reduction {
    mlir::linalg::GenericOp op;
    Coords coords;  ///< of result 0
    int64_t points; ///< of the reduction loops, estimated
  };

  /// A read of a tensor, and the reduction whose loops it stands in (or null).
  struct Visit {
    mlir::Value tensor;
    Coords coords;
    mlir::Operation *within;
  };

  explicit TensorWalk(IndexSpace &space) : space(space) {}

  /// Adds what reading `tensor` at `coords` touches. False if some op on the
  /// way has no code; `unsupported` is it.
  bool read(mlir::Value tensor, llvm::ArrayRef<IndexExpr> coords);
  /// Adds what one step of the reduction loops of `op` reads.
  bool readBody(mlir::linalg::GenericOp op, llvm::ArrayRef<IndexExpr> dims);

  /// All reads, in the order in which they were met.
  llvm::ArrayRef<Visit> visits() const { return visited; }
  /// Results of pointwise generics among them, each once, innermost last.
  llvm::SmallVector<mlir::Value> pointwise() const;

  std::vector<Access> accesses;
  std::vector<Reduction> reductions;
  int64_t cost = 0;         ///< of the bodies, for one element
  int64_t valueBytes = 1;   ///< of the widest value that bodies compute
  bool laneByLane = false;  ///< some op of the bodies has no vector code
  bool conditional = false; ///< some read stands under a condition (padding)
  mlir::Operation *unsupported = nullptr;
  /// Values taken as given: reading them touches nothing.
  llvm::DenseSet<mlir::Value> leaves;

private:
  bool readScalar(mlir::Value value, mlir::linalg::GenericOp op,
                  llvm::ArrayRef<IndexExpr> dims,
                  llvm::DenseSet<mlir::Value> &seen);
  void addAccess(mlir::Value memory, IndexExpr offset, mlir::Type element);

  IndexSpace &space;
  int64_t times = 1;
  mlir::Operation *within = nullptr;
  std::vector<Visit> visited;
};

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_TENSORWALK_H
