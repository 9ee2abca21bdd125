//===- KernelEmitter.h - One kernel to loops over lanes --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_KERNELEMITTER_H
#define FORETRACE_COMPILER_CODEGEN_CPU_KERNELEMITTER_H

#include "compiler/codegen/cpu/CpuCodegen.h"
#include "compiler/codegen/cpu/TensorReader.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

namespace ft {

/// An output of a kernel: `tensor` is to be in `memory` (an argument).
struct KernelOutput {
  mlir::Value tensor;
  mlir::Value memory;
};

/// What calls of a kernel need to know.
struct KernelInfo {
  Dim trips = 1;          ///< of the outermost parallel loop
  double nanoseconds = 0; ///< estimate for one trip, at the hints of the sizes
  Dim points = 1;         ///< what the work of one trip is proportional to
  double pointsAtHints = 1;
  /// Which argument holds each size of the run.
  llvm::SmallVector<std::pair<std::string, unsigned>, 2> symbols = {};
};

/// Part of a kernel that is one parallel loop: trips [first, first + trips) of
/// the kernel.
class NestEmitter {
public:
  NestEmitter(TensorReader &reader, mlir::Value low, mlir::Value high,
              Dim first)
      : r(reader), low(low), high(high), first(first) {}
  virtual ~NestEmitter() = default;

  /// Emits the nest. False (with reader.failed set) if something has no code.
  virtual bool emit() = 0;
  KernelInfo info;

protected:
  /// The parallel loop: `body` for each of `trips` steps that fall into the
  /// range that the kernel was called with.
  void parallelLoop(Dim trips, llvm::function_ref<void(unsigned atom)> body);

  TensorReader &r;
  mlir::Value low, high;
  Dim first;
};

/// The elements of outputs of one shape as a few loops: neighbouring dims are
/// one loop ("group") where every read and store stays linear in it.
class OutputSpace {
public:
  /// Dims [first, last] of the outputs, one loop.
  struct Group {
    unsigned first, last;
    Dim size;
  };

  /// `shape` of every output.
  OutputSpace(TensorReader &reader, llvm::ArrayRef<KernelOutput> outputs,
              llvm::ArrayRef<Dim> shape)
      : outputs(outputs.begin(), outputs.end()), r(reader),
        sizes(shape.begin(), shape.end()) {}

  /// False (with reader.failed set) if something has no code.
  bool makeGroups();
  /// What one element reads; a fresh counter for each group in `atoms`.
  bool walk(TensorWalk &w, llvm::SmallVectorImpl<unsigned> &atoms,
            llvm::SmallVectorImpl<IndexExpr> *stores = nullptr) {
    return walk(w, groups, atoms, stores);
  }
  /// The coordinates of the element at these group counters.
  Coords coordsOf(llvm::ArrayRef<IndexExpr> counters) {
    return coordsOf(groups, counters);
  }
  llvm::ArrayRef<Dim> shape() const { return sizes; }

  llvm::SmallVector<KernelOutput> outputs;
  llvm::SmallVector<Group> groups;

private:
  bool walk(TensorWalk &w, llvm::ArrayRef<Group> with,
            llvm::SmallVectorImpl<unsigned> &atoms,
            llvm::SmallVectorImpl<IndexExpr> *stores);
  Coords coordsOf(llvm::ArrayRef<Group> with,
                  llvm::ArrayRef<IndexExpr> counters);

  TensorReader &r;
  Dims sizes;
};

/// Pointwise ops and reductions: a nest over the elements of the outputs.
class ElementNest : public NestEmitter {
public:
  ElementNest(TensorReader &reader, mlir::Value low, mlir::Value high,
              Dim first, llvm::ArrayRef<KernelOutput> outputs,
              llvm::ArrayRef<Dim> shape)
      : NestEmitter(reader, low, high, first), space(reader, outputs, shape) {}
  bool emit() override;

private:
  void plan();
  void planInsideLanes(const TensorWalk &w, llvm::ArrayRef<unsigned> atoms);
  void readReductions();
  void emitInner(unsigned depth, llvm::ArrayRef<unsigned> order);
  void emitLanes(llvm::function_ref<void()> body);
  void emitPoint();
  void keepExpensive();

  OutputSpace space;
  /// Per group: some reduction is read once for each of its steps.
  llvm::SmallVector<bool> isRow;
  /// Per group, without reductions: it is a loop inside of the lanes'.
  llvm::SmallVector<bool> insideLanes;
  unsigned laneGroup = Lanes::kNone;
  unsigned width = 1;
  int64_t chunk = 0; ///< > 0: the lane loop is cut into parallel chunks
  int64_t cost = 1;  ///< of one element
  Coords counters;   ///< current value of each group
  mlir::Value chunkLow, chunkHigh;
};

/// Replaces the kernel (func.func on memrefs) by one with the same name on
/// pointers and a range. False: some op has no code, a diagnostic was emitted.
mlir::FailureOr<KernelInfo> emitKernel(mlir::func::FuncOp kernel,
                                       const CpuTarget &target,
                                       const CpuCodegenOptions &options);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_KERNELEMITTER_H
