//===- FakePropagate.h - Annotates every value of a module -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fake stage: shape, strides, offset, dtype and device of every value, from
// those of the arguments, without data.
//
//   func.func @forward(%x: tensor<*x!ft.unknown>
//                          {ft.declared = tensor<2x3xf32, #ft.meta<cpu>>})
//     %y = ft.transpose.int(%x, 0, 1) : (tensor<*x!ft.unknown>)
//            -> tensor<*x!ft.unknown>
// becomes
//     %y = ft.transpose.int(%x, 0, 1) : (tensor<2x3xf32, #ft.meta<cpu>>)
//            -> tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>
//
// Mutation stays as written: an annotation is the value's state at that point.
// Results that PyTorch leaves undefined get the type `none`.
//
// Diagnostics are MLIR's, their text starting with the id:
//   [FT0301] operators without a rule, all at once
//   [FT0302] … [FT0308] a call that its rule refuses
//   [FT0107] no @forward, another function with calls, or an argument without
//            any layout
//   [FT0311] a symbolic relation or a data-dependent size that is not decided
//   [FT0310] a warning: the archive claims another layout

#ifndef FORETRACE_COMPILER_FAKE_FAKEPROPAGATE_H
#define FORETRACE_COMPILER_FAKE_FAKEPROPAGATE_H

#include "mlir/IR/BuiltinOps.h"

namespace ft {

class FakeCache;
class FakeScope;

// All of these take a cache to share with other walks of the same MLIRContext;
// without one they make their own.

/// Annotates `@forward`. Existing annotations of results are replaced.
mlir::LogicalResult propagateFake(mlir::ModuleOp module,
                                  FakeCache *cache = nullptr);

/// Annotates the results of one operation from its operands' types, for passes
/// that make new calls. Failure is reported at the operation. Without a scope
/// nothing is known of symbols.
mlir::LogicalResult propagateOp(mlir::Operation *op, FakeCache *cache = nullptr,
                                FakeScope *scope = nullptr);

/// What checkFake compares: sizes and dtypes, or all that the fake stage says.
/// After functionalization values may be denser than those that they stand
/// for, so that only their shapes can be compared.
enum class FakeCheck { Shapes, Layouts };

/// Whether every annotation of `@forward` is what the rule of its call gives
/// from the annotations of the operands. For stages that may be the first to
/// see a text, whose annotations anyone can have written. Changes nothing.
/// Reports [FT0107], or what the rule refuses. Cost: that of propagateFake.
mlir::LogicalResult checkFake(mlir::ModuleOp module, FakeCheck what,
                              FakeCache *cache = nullptr);

/// The stage verifier: every tensor value has a layout that its encoding's own
/// verifier accepts. Reports [FT0309].
mlir::LogicalResult verifyFakeStage(mlir::ModuleOp module);

/// The pass `ft-fake-propagate` (propagateFake, then verifyFakeStage).
void registerFakePasses();

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_FAKEPROPAGATE_H
