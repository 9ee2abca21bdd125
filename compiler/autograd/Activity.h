//===- Activity.h - Which values need a gradient ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value needs a gradient if it depends on an argument that requires one
// (varied) and an output depends on it (useful), both through differentiable
// calls only.
//
//   %0 = ft.mul(%w, %x)      %w requires one: %0 varies, and %2 with it
//   %1 = ft.detach(%0)       nothing varies past it
//   %2 = ft.add(%0, %1)
//   %3 = ft.exp(%0)          varies, but no output depends on it: not useful
//   return %2
//
// Inside of branches and loops the same is asked of each value: an argument of
// a region varies with the operand that it shows, and a carried value also with
// what the iteration before gave for it.
//
// Cost: two walks over the function; a loop is walked once for each carried
// value that comes to be marked, at most.

#ifndef FORETRACE_COMPILER_AUTOGRAD_ACTIVITY_H
#define FORETRACE_COMPILER_AUTOGRAD_ACTIVITY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseSet.h"

namespace ft {

class Activity {
public:
  explicit Activity(mlir::func::FuncOp function);

  bool varies(mlir::Value value) const { return varied.contains(value); }
  bool needs(mlir::Value value) const {
    return varied.contains(value) && useful.contains(value);
  }
  /// Whether a gradient flows through the call: some result and some operand
  /// need one.
  bool isActive(mlir::Operation *op) const;

private:
  void markUseful(mlir::Block &body);
  void markUsefulIn(mlir::Operation *control);

  llvm::DenseSet<mlir::Value> varied, useful;
};

/// Adds to `varied` what varies of the results of an ft.cond, ft.while or
/// ft.scan, and of the values inside, when `varied` holds what does outside.
void markVaried(mlir::Operation *control, llvm::DenseSet<mlir::Value> &varied);

/// Whether a value of this type can have a gradient: tensors of real or complex
/// floating-point numbers.
bool isDifferentiable(mlir::Value value);

/// Whether a result of a call that passes gradients can have one itself.
bool varies(mlir::OpResult result);

/// Whether a tangent arrives at result `result` of the function: at what the
/// user gets, and at what is written back to an input whose gradient is asked
/// for, whose caller goes on computing with it. Not at what is written back to
/// parameters, buffers and other inputs: a step ends with them.
bool takesTangent(mlir::func::FuncOp function, unsigned result);

/// Whether a result is what is written back to an input.
bool isWrittenInput(mlir::func::FuncOp function, unsigned result);

/// Whether results of a call vary with its operands.
bool passesGradients(mlir::Operation *op);

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_ACTIVITY_H
