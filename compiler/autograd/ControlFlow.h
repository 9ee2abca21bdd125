//===- ControlFlow.h - Derivatives of branches and loops -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of an ft.cond is one on the same predicate, that of an ft.scan
// one the other way. Each region is traced jointly (BlockTrace.h), then cut:
// what its results need stays, everything else becomes the region of the
// backward, and the forward values that this reads are results of the forward.
//
//   %h, %ys = ft.scan init(%h0) over(%xs) captured(%w)
//     do (%a, %x, %w) { %m = mul(%a, %w); %n = tanh(%m); yield %n, %m }
//   →
//   %h, %ys, %as, %ns = ft.scan …             %as, %ns: %a, %n at each position
//     do (%a, %x, %w) { …; yield %n, %m, clone(%a), clone(%n) }
//   %dh0, %dw = ft.scan init(%dh, zeros) over(%as, %ns, %dys) captured(%w)
//     {reverse} do (%da, %dw, %a, %n, %dm, %w) {
//       %0 = add(tanh_backward(%da, %n), %dm)
//       yield mul(%0, %w), add(%dw, sum(mul(%0, %a))) }
//
// Gradients of captured operands are summed in a value that is carried. Of a
// cond each branch has values of its own to keep; those of one type in both
// share a result, and a branch that has nothing for one gives memory without
// meaning. A branch that does not depend on an operand gives zeros.
//
// Kept: what backward reads but views, numbers, and of a scan what is the same
// at each position, which are made again. So random numbers are never drawn
// anew. What is kept must have sizes that are known outside.
//
// Cost: linear in the operations of the regions.

#ifndef FORETRACE_COMPILER_AUTOGRAD_CONTROLFLOW_H
#define FORETRACE_COMPILER_AUTOGRAD_CONTROLFLOW_H

#include "compiler/autograd/Activity.h"
#include "compiler/autograd/RuleCall.h"

namespace ft {

/// Builds the backward of an active ft.cond or ft.scan (of dim 0) at the
/// insertion point; by operand the gradient, null where there is none.
/// `gradients`: by result, null where the outputs do not depend on it.
/// `op` is erased: another that also gives what is kept stands in its place.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
backwardOfControl(mlir::Operation *op, llvm::ArrayRef<mlir::Value> gradients,
                  RuleBuilder &to, const Activity &activity);

/// Brings a branch or loop to the forms that have a derivative: a scan over
/// another dim than the first becomes one over that, a while with a bound
/// (LoopBound.h) a scan. The operation that now stands for `op`, which may be
/// itself. Fails, with [FT0801], for a loop without a bound.
mlir::FailureOr<mlir::Operation *> simplifyControl(mlir::Operation *op,
                                                   RuleBuilder &to);

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_CONTROLFLOW_H
