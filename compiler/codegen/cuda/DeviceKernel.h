//===- DeviceKernel.h - One kernel to threads of a GPU ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is read backwards from its outputs, as for the CPU
// (compiler/codegen/cpu/TensorReader.h), by threads instead of lanes. Outputs
// of one shape are one nest, and each nest has a range of the kernel's blocks:
//
//   block        0 … 9          10 … 12
//   nest         rows of out0   elements of out1
//
// Every block has kBlockThreads threads, so that any nests fit together, and so
// that how a kernel is launched is a number of blocks and nothing else.

#ifndef FORETRACE_COMPILER_CODEGEN_CUDA_DEVICEKERNEL_H
#define FORETRACE_COMPILER_CODEGEN_CUDA_DEVICEKERNEL_H

#include "compiler/codegen/cpu/ContractionNest.h"
#include "compiler/codegen/cpu/KernelEmitter.h"
#include "compiler/codegen/cuda/CudaTarget.h"

namespace ft {

inline constexpr int64_t kWarpThreads = 32;
inline constexpr int64_t kBlockThreads = 256;

/// On a memref argument of a kernel: bytes (i64) that divide its address.
inline constexpr llvm::StringLiteral kAlignAttr = "ft.align";

/// How a kernel is launched.
struct LaunchInfo {
  std::string name;
  /// Blocks of kBlockThreads threads; 0: there is nothing to compute.
  Dim blocks = 0;
  /// Which argument holds each size of the run.
  llvm::SmallVector<std::pair<std::string, unsigned>, 2> symbols = {};
  /// Of a block.
  int64_t sharedBytes = 0;
};

/// What nests of one kernel share.
class DeviceKernel {
public:
  DeviceKernel(TensorReader &reader, mlir::Value thread, mlir::Value block,
               mlir::ModuleOp module, llvm::StringRef name)
      : r(reader), thread(thread), block(block), module(module),
        name(name.str()) {}

  TensorReader &r;
  mlir::Value thread; ///< index, in its block
  mlir::Value block;  ///< index

  mlir::OpBuilder &builder() { return r.b; }
  /// Products of float32 may be rounded to 11 bits.
  bool tf32 = false;
  /// Bytes that divide the address of a memref argument, as far as known.
  llvm::DenseMap<mlir::Value, int64_t> alignments;
  /// Shared memory of a block: all nests take it from its start, since a block
  /// is in one nest. Aligned to 16.
  mlir::Value shared(int64_t bytes);
  /// What `shared` was asked for.
  int64_t sharedBytes() const {
    auto type =
        memory
            ? mlir::dyn_cast<mlir::LLVM::LLVMArrayType>(memory.getGlobalType())
            : mlir::LLVM::LLVMArrayType();
    return type ? static_cast<int64_t>(type.getNumElements()) : 0;
  }
  /// All threads of the block have come here.
  void barrier();
  /// What `value` is in the thread whose number in the warp differs in the bits
  /// of `mask`. Any number type of up to 64 bits.
  mlir::Value shuffle(mlir::Value value, int mask);
  /// `body` where `condition` holds.
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value below(mlir::Value v, mlir::Value limit);
  mlir::Value call(llvm::StringRef intrinsic, mlir::Type result,
                   mlir::ValueRange operands);

  /// The counters of `groups`, the last one fastest, of point `e` of them all.
  void setCounters(const OutputSpace &space, llvm::ArrayRef<unsigned> groups,
                   IndexExpr e, Coords &counters);

private:
  mlir::ModuleOp module;
  std::string name;
  mutable mlir::LLVM::GlobalOp memory;
};

/// Whether e is a multiple of `width`, and e + i for the i-th neighbour, where
/// counter `near` is a multiple of it: a vector that is aligned if the memory
/// is.
bool isConsecutive(const IndexSpace &space, const IndexExpr &e, unsigned near,
                   int64_t width);

/// One thread for each element, or for four neighbours; where a reduction is
/// shared by the elements of a row, a team of threads (a warp, or the block)
/// for each row.
class ThreadNest {
public:
  ThreadNest(DeviceKernel &kernel, llvm::ArrayRef<KernelOutput> outputs,
             llvm::ArrayRef<Dim> shape)
      : k(kernel), r(kernel.r), space(kernel.r, outputs, shape) {}

  /// Emits the nest; its blocks count from `first`. Sets `blocks`. False (with
  /// reader.failed set) if something has no code.
  bool emit(Dim first);
  Dim blocks = 0;

private:
  void plan();
  bool areVectors(const TensorWalk &walk, llvm::ArrayRef<unsigned> atoms);
  void elements(mlir::Value block);
  void rows(mlir::Value block);
  void setCounters(llvm::ArrayRef<unsigned> groups, IndexExpr e) {
    k.setCounters(space, groups, std::move(e), counters);
  }
  void readReductions();
  void point();
  mlir::Value combine(mlir::Value part, ThreadTeam::Combiner combiner);

  DeviceKernel &k;
  TensorReader &r;
  OutputSpace space;
  llvm::SmallVector<unsigned> outer, inner; ///< groups
  Coords counters;
  bool hasTeams = false;
  int64_t each = 1; ///< neighbours that a thread computes
  int64_t teamThreads = kWarpThreads;
  Dim outerPoints = 1, innerPoints = 1;
};

/// Matmul and convolution: a tile of the result for each block, operands
/// through shared memory. See TileNest.cpp, and TensorCoreTile.cpp for operands
/// that tensor cores multiply.
class TileNest {
public:
  TileNest(DeviceKernel &kernel, llvm::ArrayRef<KernelOutput> outputs,
           llvm::ArrayRef<Dim> shape)
      : k(kernel), r(kernel.r), space(kernel.r, outputs, shape) {}

  /// Whether the outputs are one contraction with pointwise ops around it, of a
  /// shape for which tiles pay. To be called before emit.
  bool plan();
  bool emit(Dim first);
  Dim blocks = 0;

private:
  // Columns of a tile.
  static constexpr int64_t kColumns = 64;
  // Threads of a block: 16 × 16, each with 4 neighbouring columns.
  static constexpr int64_t kSide = 16;
  static constexpr int64_t kEach = 4;
  // Floats that a row of shared memory is longer than the tile: 16 bytes, so
  // that vectors stay aligned and columns fall into other banks.
  static constexpr int64_t kPad = 4;

  /// Where an operand that is plain memory is read, and when: 0 otherwise.
  struct Source {
    mlir::Value memory;
    IndexExpr offset;
    llvm::SmallVector<IndexCondition, 2> conditions;
  };
  struct Operand {
    mlir::Value factor; ///< what is multiplied, a value of the body
    mlir::OpOperand *input = nullptr;
    bool alongK = false; ///< neighbours in memory are neighbours in k
    bool isRows = false; ///< A, whose points are rows; else columns
    /// Neighbours that one asynchronous copy brings to shared memory; 0: each
    /// element is read, or computed, by a thread.
    int64_t copied = 0;
    /// Found by analyze: the memory, the counter along which neighbours are
    /// neighbours in it, and the size of that counter.
    std::optional<Source> source = {};
    unsigned near = 0;
    Dim nearSize = 1;
    llvm::SmallVector<bool> moves;
    mlir::Type type() const { return factor.getType(); }
    int64_t bytes() const { return type().getIntOrFloatBitWidth() / 8; }
  };
  /// A piece of an operand in shared memory: `points` rows or columns times
  /// `steps` of k; `pointStride` and `stepStride` in elements.
  struct Piece {
    mlir::Value memory;
    int64_t points, steps, pointStride, stepStride;
  };

  bool analyze(Operand &o, llvm::ArrayRef<unsigned> atoms, const Coords &dims);
  bool chooseTensorCores();
  Coords inputCoords(const Operand &o, const Coords &dims);
  Coords factorDims(const Operand &o, mlir::Value at, mlir::Value kAt);

  // TileStages.cpp.
  std::optional<Source> sourceOf(mlir::Value tensor, Coords at);
  int64_t copyWidth(const Operand &o, const Source &source, unsigned near,
                    Dim nearSize, bool isRow);
  void copyPiece(const Operand &o, const Piece &piece, mlir::Value firstPoint,
                 mlir::Value firstK);
  void stage(const Operand &o, const Piece &piece, mlir::Value firstPoint,
             mlir::Value firstK);
  using Stager = llvm::function_ref<void(mlir::Value base, mlir::Value k0)>;
  using Computer = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value base, mlir::ValueRange sums)>;
  llvm::SmallVector<mlir::Value> overK(mlir::Value memory, int64_t steps,
                                       int64_t stageBytes,
                                       llvm::SmallVector<mlir::Value> sums,
                                       Stager stager, Computer compute);
  void setCounters(llvm::ArrayRef<unsigned> groups, IndexExpr e) {
    k.setCounters(space, groups, std::move(e), counters);
  }
  Coords contractionCoords(mlir::linalg::GenericOp &op);
  void loadPiece(const Operand &o, const Piece &piece, mlir::Value firstPoint,
                 mlir::Value firstK);
  mlir::Value element(const Operand &o, mlir::Value at, mlir::Value kAt);
  mlir::Value sharedAt(mlir::Value base, mlir::Type type, mlir::Value at);
  void scalarSums(mlir::Value memory, mlir::Value m0, mlir::Value n0);
  void tensorCoreSums(mlir::Value memory, mlir::Value m0, mlir::Value n0);
  void writeTile(mlir::Value memory, mlir::Value m0, mlir::Value n0);
  int64_t tileRows() const { return threadRows * kSide; }
  int64_t scalarStageBytes() const;
  int64_t sharedBytes() const;
  int64_t tensorCoreStageBytes() const;
  Piece tensorCorePiece(const Operand &o, mlir::Value memory) const;
  /// Whether neighbours in its piece are points.
  static bool isTurned(const Operand &o) { return o.bytes() == 2 && !o.alongK; }
  llvm::SmallVector<mlir::Value, 4> fragment(const Operand &o,
                                             const Piece &piece,
                                             mlir::Value point, int64_t step);

  // Numbers.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value times(mlir::Value x, int64_t y);
  mlir::Value over(mlir::Value x, int64_t y);
  mlir::Value rest(mlir::Value x, int64_t y);

  DeviceKernel &k;
  TensorReader &r;
  OutputSpace space;
  Contraction contraction;
  Operand a, b;
  llvm::SmallVector<unsigned> rows, columns, batch; ///< groups
  Dim rowCount = 1, columnCount = 1, batchCount = 1, kCount = 1;
  int64_t threadRows = 4; ///< rows of the result for each thread
  bool tensorCores = false;
  mlir::Type accumulator;
  Coords counters;
};

/// Replaces the kernel (func.func on memrefs) by one of the same name on
/// pointers, which threads of a GPU run. Failure: some op has no code, a
/// diagnostic was emitted.
/// `tf32`: products of float32 may be rounded to 11 bits.
mlir::FailureOr<LaunchInfo> emitDeviceKernel(mlir::func::FuncOp kernel,
                                             bool tf32 = false);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CUDA_DEVICEKERNEL_H
