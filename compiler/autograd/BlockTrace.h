//===- BlockTrace.h - The backward calls of one block ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk of Autograd.h over one block: of a function, or of a region. What
// arrives at values from outside is given first; then the active operations are
// visited from last to first, and their backward calls stand in front of the
// block's terminator.
//
//   trace.arrive(%1, %t)      ^(%w, %x):              ^(%w, %x):
//   trace.run()                 %0 = ft.mul(%w, %x)     %0 = ft.mul(%w, %x)
//   trace.gradientOf(%w)        %1 = ft.exp(%0)    →    %1 = ft.exp(%0)
//                                                       %2 = ft.mul(%t, %1)
//                                                       %3 = ft.mul(%2, %x)

#ifndef FORETRACE_COMPILER_AUTOGRAD_BLOCKTRACE_H
#define FORETRACE_COMPILER_AUTOGRAD_BLOCKTRACE_H

#include "compiler/autograd/Activity.h"
#include "compiler/autograd/RuleCall.h"

namespace ft {

/// Whether an operation that is active can be derived.
bool hasDerivative(mlir::Operation *op);

/// The type of what arrives at a value: of its strides if they fill a storage
/// without holes, row-major otherwise.
mlir::Type tangentType(mlir::Value output);

class BlockTrace {
public:
  BlockTrace(mlir::Block &body, RuleBuilder &to, const Activity &activity)
      : body(body), to(to), activity(activity) {}

  void arrive(mlir::Value at, mlir::Value gradient) {
    arrived[at].push_back(gradient);
  }
  /// Fails after an error, which has been reported.
  mlir::LogicalResult run();
  /// The sum of what has arrived at a value, which is taken; null if nothing
  /// has.
  mlir::FailureOr<mlir::Value> gradientOf(mlir::Value value);

private:
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  backwardOf(mlir::Operation *op, llvm::ArrayRef<mlir::Value> gradients);

  mlir::Block &body;
  RuleBuilder &to;
  const Activity &activity;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> arrived;
};

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_BLOCKTRACE_H
