//===- JointGraph.h - What of a joint graph may run when -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls of a joint graph by what they depend on:
//
//   %1 = ft.cos(%x)          forward: a result of the forward needs it
//   %2 = ft.pow(%x, 2)       free: needs no tangent, and no result needs it
//   %3 = ft.mul(%t, %2)      late: needs a tangent
//   return %1, %3 {gradient}
//
// Late calls run in backward, and so do those with effects that a derivative
// has made. Forward calls run in forward, and again in backward if what late
// calls read of them is not kept. Free ones run in backward, or in forward if
// their results are kept.

#ifndef FORETRACE_COMPILER_PARTITION_JOINTGRAPH_H
#define FORETRACE_COMPILER_PARTITION_JOINTGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseSet.h"

#include <string>

namespace ft {

class JointGraph {
public:
  explicit JointGraph(mlir::func::FuncOp function);

  mlir::func::FuncOp function() const { return joint; }
  mlir::Block &body() const { return function().front(); }
  mlir::Operation *terminator() const { return body().getTerminator(); }

  /// ft.kind of an argument, ft.role of a result.
  llvm::StringRef kindOf(mlir::BlockArgument argument) const;
  llvm::StringRef roleOf(unsigned result) const;
  bool isGradient(unsigned result) const {
    return roleOf(result) == "gradient";
  }
  /// Whether backward gives it: a gradient, or what is written to a buffer and
  /// needs a tangent.
  bool isOfBackward(unsigned result) const {
    return isGradient(result) || lateResults.contains(result);
  }

  /// What results of the forward need, and calls with effects that need no
  /// tangent.
  bool isForward(mlir::Operation *op) const { return forward.contains(op); }
  bool isLate(mlir::Operation *op) const { return late.contains(op); }
  /// An argument that forward writes: backward has it only if it is kept.
  bool isWritten(mlir::Value argument) const {
    return written.contains(argument);
  }

  /// What late calls read and gradients are, but for what late calls make: each
  /// once, in the order of the readers. Arguments among them.
  llvm::ArrayRef<mlir::Value> neededLate() const { return needed; }

  /// The archive's name, or one of the operation's.
  std::string nameOf(mlir::Value value) const;

private:
  mlir::func::FuncOp joint;
  llvm::DenseSet<mlir::Operation *> forward, late;
  llvm::DenseSet<mlir::Value> written;
  llvm::DenseSet<unsigned> lateResults;
  llvm::SmallVector<mlir::Value> needed;
};

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_JOINTGRAPH_H
