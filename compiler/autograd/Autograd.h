//===- Autograd.h - Traces forward and backward jointly --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The autograd stage. Input: a functional, annotated module. Output: the joint
// graph, in which `@forward` takes a tangent for each differentiable output and
// returns a gradient for each argument that requires one:
//
//   @forward(%w {requires_grad}, %x)      @forward(%w, %x, %t {kind tangent})
//     %0 = ft.mul(%w, %x)             →     %0 = ft.mul(%w, %x)
//     %1 = ft.sum(%0)                       %1 = ft.sum(%0)
//     return %1                             %2 = ft.expand(%t, [3])
//                                           %3 = ft.mul(%2, %x)
//                                           return %1, %3 {role gradient}
//
// How: values on the way from an argument that requires a gradient to an output
// are marked (Activity.h). Calls on that way whose backward is that of other
// calls are expanded (`layer_norm` becomes `native_layer_norm`, which also
// gives the statistics). Then the calls are visited from last to first; each
// one's rule turns the gradients of its results into those of its arguments,
// and gradients that arrive at one value are added in that order. Calls that
// are the same are merged in the end, calls without use removed.
//
// Invariant: every gradient has the shape, dtype and device of its primal.
// Cost: linear in the number of calls.
//
// Roles of results: "gradient", with ft.target the parameter's or input's name
// in the model. Kinds of arguments: "tangent", whose name is "tangent_" and the
// output's. An argument that the outputs do not depend on has no gradient.
//
// What is written to an input whose gradient is asked for is one more output,
// with which the caller goes on computing; its tangent is "input_tangent_" and
// the input's name. (PyTorch's AOTAutograd has one for each written input that
// comes to require a gradient.) Parameters and buffers have none.
//
// Diagnostics: [FT0801] names every operator on the way without a derivative,
// at once; [FT0802] nothing requires a gradient, or no output depends on it.

#ifndef FORETRACE_COMPILER_AUTOGRAD_AUTOGRAD_H
#define FORETRACE_COMPILER_AUTOGRAD_AUTOGRAD_H

#include "mlir/IR/BuiltinOps.h"

namespace ft {

class FakeCache;

/// On a call with effects that a derivative has made (unit): it runs in
/// backward, also if it needs no tangent.
inline constexpr llvm::StringLiteral kOfBackward = "ft.of_backward";

mlir::LogicalResult buildJoint(mlir::ModuleOp module,
                               FakeCache *cache = nullptr);

/// The stage verifier: each gradient fits its primal, and every value is
/// annotated.
mlir::LogicalResult verifyAutogradStage(mlir::ModuleOp module);

/// The pass `ft-autograd` (buildJoint, then the verifier).
void registerAutogradPasses();

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_AUTOGRAD_H
