//===- ControlFlow.h - Annotates branches and loops ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ft.cond     both branches are walked with the operands' layouts; the results
//             are what their yields have in common (JoinLayouts.h), and a
//             `ft.refine` in front of each ft.yield says so:
//
//               then (%a: tensor<4x5xf32>) {
//                 %s = ft.slice.Tensor(%a, 0, 0, 2) : … -> tensor<2x5xf32>
//                 %c = ft.clone(%s) : … -> tensor<2x5xf32>
//                 %r = ft.refine %c : tensor<2x5xf32> -> tensor<?x5xf32, [u0]>
//                 ft.yield %r
//
// ft.while    carried values must keep their layout from one iteration to the
//             next, so one walk of each region is a fixed point. What is
//             carried is dense and starts at 0: other init operands are cloned
//             in front. Carried integers are fresh symbols inside and behind
//             the loop.
// ft.scan     the body sees row-major slices; what it yields behind the carried
//             values is stacked row-major, then moved to the scanned dim.
//
// Refused, as PyTorch refuses it: a region that writes to what it did not make,
// or that yields a view of an argument or one storage twice. So results have
// storages of their own.
//
// Cost: one visit for each operation of a region.

#ifndef FORETRACE_COMPILER_FAKE_CONTROLFLOW_H
#define FORETRACE_COMPILER_FAKE_CONTROLFLOW_H

#include "compiler/fake/Propagator.h"

namespace ft {

/// Annotates the regions and the results of `op` (isControl), whose operands
/// are annotated. Fails after an error, which has been reported.
mlir::LogicalResult annotateControl(Propagator &walk, mlir::Operation *op);

/// Symbols for the carried values that are integers, as annotateControl makes
/// them: first those inside of the loop, after its walk those behind it.
llvm::SmallVector<std::optional<Dim>>
makeCarriedNumbers(Propagator &walk, mlir::Operation *op,
                   mlir::ValueRange inits);

/// Compares the annotations of `op` with those of its regions instead.
mlir::LogicalResult checkControl(Propagator &walk, mlir::Operation *op);

/// Whether the regions of an annotated function write only to what they made
/// and yield neither views of arguments nor one storage twice. Reports [FT0308]
/// with the names of the op, the call and the value.
/// Cost: nothing for a function without regions, a walk of it otherwise.
mlir::LogicalResult checkRegionStorages(mlir::func::FuncOp function);
/// The same of the regions of `op` alone, for a program that grows; storages
/// that its operands share outside are not known.
mlir::LogicalResult checkRegionStorages(mlir::Operation *op);

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_CONTROLFLOW_H
