//===- ReductionLoops.h - Reduction dims as a few loops --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_REDUCTIONLOOPS_H
#define FORETRACE_COMPILER_CODEGEN_CPU_REDUCTIONLOOPS_H

#include "compiler/codegen/cpu/TensorReader.h"

namespace ft {

/// Whether parts of the reduction can be computed apart and combined: every
/// result has a combiner with a neutral element.
bool combines(mlir::linalg::GenericOp op);

/// The reduction dims of an op. Neighbours are one loop ("group") where all
/// reads of the body stay linear in it; dims of size 1 have no loop.
class ReductionLoops {
public:
  /// Dims [first, last] of `reductionDims`.
  struct Group {
    unsigned first, last;
    Dim size;
  };

  /// `dims` holds the parallel dims. They may hold any counters.
  ReductionLoops(IndexSpace &space, mlir::linalg::GenericOp op,
                 const Coords &dims);

  /// Sets the dims of a group from its counter.
  void setDims(Coords &dims, const Group &g, const IndexExpr &counter) const;
  /// What one step reads, with a fresh counter for each group in `atoms`.
  void walk(TensorWalk &w, llvm::SmallVectorImpl<unsigned> &atoms) {
    walk(w, groups, atoms);
  }
  /// Steps of all groups together; 0 if a dim has size 0.
  Dim points() const;

  llvm::SmallVector<Group> groups;

private:
  void walk(TensorWalk &w, llvm::ArrayRef<Group> with,
            llvm::SmallVectorImpl<unsigned> &atoms);

  IndexSpace &space;
  mlir::linalg::GenericOp op;
  Coords dims;
  llvm::SmallVector<unsigned> reductionDims;
  Dims sizes;
};

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_REDUCTIONLOOPS_H
