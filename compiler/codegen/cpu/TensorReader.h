//===- TensorReader.h - Emits code for tensor elements ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the code that computes elements of a kernel's tensors, going backwards
// from what is asked for (see TensorWalk.h). What is asked for is one element,
// or `lanes.width` elements at once: then the coordinates hold the lane
// counter, which stands for "its value plus the lane".
//
//   read(%r, [i, j]), lane counter j, 16 lanes; %r = relu(%x + %bias)
//     %0 = llvm.load x + i*64 + j : vector<16xf32>
//     %1 = llvm.load bias + j     : vector<16xf32>
//     …    addf, maximumf on vector<16xf32>
//
// A value that does not depend on the lane stays a scalar until it meets one
// that does. A reduction becomes loops where it is read. A contiguous read is
// one load, any other a gather. Lanes outside `lanes.mask` are not touched in
// memory and hold anything.
//
// Values are remembered for as long as the block they were emitted in is open
// (Scope): a row's sum, read once before the loop over the row, is found again
// inside it. That is all the scheduling of row chains there is.

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_TENSORREADER_H
#define FORETRACE_COMPILER_CODEGEN_CPU_TENSORREADER_H

#include "compiler/codegen/cpu/Target.h"
#include "compiler/codegen/cpu/TensorWalk.h"
#include "dialects/ft/SizeCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <functional>

namespace ft {

/// The vector that is being computed.
struct Lanes {
  static constexpr unsigned kNone = ~0u;
  unsigned width = 1;
  unsigned atom = kNone; ///< the lane counter
  mlir::Value mask;      ///< vector of i1; null: all lanes
};

/// Threads of a device that compute the same values together: a reduction that
/// is the same for all of them is shared, each takes every `threads`-th step.
struct ThreadTeam {
  using Combiner = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  int64_t threads = 1;
  mlir::Value rank; ///< index, of this thread: 0 <= rank < threads
  /// Emits the combination of all threads' parts, for every thread. All have
  /// to come by.
  std::function<mlir::Value(mlir::Value part, Combiner combine)> combine;
};

class TensorReader {
public:
  /// Emits into the function that holds the insertion point of `builder`.
  /// `arguments` maps arguments of the kernel: a memref to its pointer, a
  /// scalar to itself.
  TensorReader(mlir::OpBuilder &builder, mlir::Location loc,
               const CpuTarget &target, KernelSizes &sizes,
               llvm::DenseMap<mlir::Value, mlir::Value> arguments);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const CpuTarget &target;
  IndexSpace space;
  Lanes lanes;
  /// Code of sizes stands before it, in the first block of the function.
  mlir::Operation *afterSizes = nullptr;
  /// Vectors are not possible (complex numbers, regions in bodies).
  bool scalarOnly = false;
  /// Set where all threads of a team are, and read the same; null otherwise,
  /// and always on a CPU.
  const ThreadTeam *team = nullptr;

  /// The elements of `tensor` at `coords`: a scalar if they are the same for
  /// all lanes, else a vector. Null (with `failed` set) if there is no code.
  mlir::Value read(mlir::Value tensor, llvm::ArrayRef<IndexExpr> coords);
  /// The same, always a vector if there are lanes.
  mlir::Value readVector(mlir::Value tensor, llvm::ArrayRef<IndexExpr> coords);
  /// Stores lanes (or a scalar) to the memref `memory`, an argument.
  void write(mlir::Value memory, llvm::ArrayRef<IndexExpr> coords,
             mlir::Value value);
  /// Makes `read` answer `value` while the scope is open.
  void remember(mlir::Value tensor, llvm::ArrayRef<IndexExpr> coords,
                mlir::Value value);
  /// The first op that has no code, if there was one.
  mlir::Operation *failed = nullptr;

  /// While it lives, what is read is remembered; afterwards it is forgotten.
  struct Scope {
    explicit Scope(TensorReader &r) : reader(r), mark(r.undo.size()) {}
    ~Scope();
    TensorReader &reader;
    size_t mark;
  };

  /// A value of the body of `op` that does not depend on accumulators.
  mlir::Value evaluateAt(mlir::linalg::GenericOp op, mlir::Value value,
                         llvm::ArrayRef<IndexExpr> dims) {
    llvm::DenseMap<mlir::Value, mlir::Value> known;
    return evaluate(value, op, dims, {}, known);
  }

  // Numbers.
  mlir::Value index(int64_t c);
  /// A size, as computed once at the start of the function.
  mlir::Value index(Dim d);
  /// What a size is at the hints of its symbols, at least `least`.
  int64_t estimate(Dim d, int64_t least = 1) const {
    return space.sizes->estimate(d, least);
  }
  /// The value at lane 0.
  mlir::Value scalarIndex(const IndexExpr &e);
  /// One i64 per lane.
  mlir::Value vectorIndex(const IndexExpr &e);
  /// Whether lanes see different values.
  bool varies(const IndexExpr &e);
  mlir::Value broadcast(mlir::Value scalar);
  mlir::VectorType vectorOf(mlir::Type element) const;
  /// Lanes [0, count) as a mask; `count` is an index.
  mlir::Value maskBelow(mlir::Value count);
  mlir::Value zero(mlir::Type element);

  // Memory.
  mlir::Value load(mlir::Value pointer, mlir::Type element,
                   const IndexExpr &offset);
  void store(mlir::Value pointer, mlir::Type element, const IndexExpr &offset,
             mlir::Value value);
  /// All lanes at `offset` (which is the same for all lanes) and behind it,
  /// without a mask.
  mlir::Value loadRow(mlir::Value pointer, mlir::Type element,
                      const IndexExpr &offset);
  void storeRow(mlir::Value pointer, mlir::Type element,
                const IndexExpr &offset, mlir::Value value);
  /// `count` elements on the stack of the function, 64-byte aligned.
  mlir::Value stackArray(mlir::Type element, int64_t count);
  mlir::Value pointerOf(mlir::Value argument) const {
    return arguments.lookup(argument);
  }

  /// `body` for each value of a new counter in [low, high) with this step; the
  /// values are carried from step to step. Returns the last ones.
  using LoopBody = std::function<llvm::SmallVector<mlir::Value>(
      unsigned atom, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> loop(mlir::Value low, mlir::Value high,
                                      int64_t step, Dim size, int64_t divisor,
                                      mlir::ValueRange carried, LoopBody body);

  /// Lanes for a kernel whose widest element has `bytes`: several registers,
  /// fewer where the body is long, and few lanes where it is taken apart.
  unsigned preferredWidth(int64_t bytes, int64_t cost, int64_t extent,
                          bool laneByLane) const;

  /// A pointwise value kept in row scratch: written while `writer` is being
  /// reduced, read afterwards.
  struct Kept {
    mlir::Operation *writer;
    mlir::Value pointer;
    mlir::Type element;
    Dims strides; ///< per dim of the tensor, 0: the row
    bool complete = false;
    Coords row; ///< what the coordinates were when it was written
  };
  llvm::DenseMap<mlir::Value, Kept> kept;

private:
  friend struct Scope;
  struct Remembered {
    Coords coords;
    mlir::Value value;
    unsigned lane; ///< the lane counter it was computed for
  };

  mlir::Value readUncached(mlir::Value tensor, llvm::ArrayRef<IndexExpr> at);
  mlir::Value readView(const ViewStep &step, mlir::Value tensor,
                       llvm::ArrayRef<IndexExpr> coords);
  mlir::Value readGeneric(mlir::linalg::GenericOp op, unsigned result,
                          llvm::ArrayRef<IndexExpr> coords);
  mlir::Value readConcat(mlir::Operation *op, llvm::ArrayRef<IndexExpr> at);
  bool reduce(mlir::linalg::GenericOp op, Coords dims,
              llvm::ArrayRef<IndexExpr> coords,
              llvm::SmallVectorImpl<mlir::Value> &results);
  /// Evaluates the body; `carried` stands for the init arguments of a
  /// reduction.
  bool evaluateBody(mlir::linalg::GenericOp op, llvm::ArrayRef<IndexExpr> dims,
                    mlir::ValueRange carried,
                    llvm::SmallVectorImpl<mlir::Value> &yielded);
  mlir::Value evaluate(mlir::Value value, mlir::linalg::GenericOp op,
                       llvm::ArrayRef<IndexExpr> dims, mlir::ValueRange carried,
                       llvm::DenseMap<mlir::Value, mlir::Value> &known);
  mlir::Value emitBodyOp(mlir::Operation *op,
                         llvm::DenseMap<mlir::Value, mlir::Value> &known);
  mlir::Value outsideScalar(mlir::Value value);
  mlir::Value constantPointer(mlir::arith::ConstantOp op);
  mlir::Value address(mlir::Value pointer, mlir::Type element,
                      const IndexExpr &offset);
  mlir::Value conditionMask(const IndexCondition &c);
  mlir::Value fullMask();

  friend class ReductionEmitter;

  llvm::DenseMap<mlir::Value, mlir::Value> arguments;
  SizeCode sizeCode;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Remembered, 2>> memory;
  std::vector<mlir::Value> undo;
  llvm::DenseMap<mlir::Value, mlir::Value> constantPointers;
  llvm::SmallVector<mlir::Operation *> reducing;
};

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_TENSORREADER_H
