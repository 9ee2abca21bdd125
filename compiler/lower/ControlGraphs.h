//===- ControlGraphs.h - Branches and loops as functions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_CONTROLGRAPHS_H
#define FORETRACE_COMPILER_LOWER_CONTROLGRAPHS_H

#include "compiler/lower/LowerState.h"

namespace ft {

/// Makes a function of each region of an `ft.cond` or `ft.while`, and an
/// `ft.run_graphs` of the op: regions are isolated, so what one reads are its
/// arguments.
///
///   ft.cond(%p, %x) then (%a) {…} else (%a) {…}
///   ==>  ft.run_graphs "cond"(%p, %x) [@graph0, @graph1]
///
/// The functions are lowered as @forward is, each to a schedule of its own, and
/// take their tensors row-major. Their memory is a part of the arena that
/// stands still while another step runs. They are added to `graphs`. Refused
/// (FT0501): `ft.scan`, and numbers as operands.
mlir::LogicalResult
lowerControl(LowerState &state, mlir::Operation *op, mlir::OpBuilder &b,
             llvm::SmallVectorImpl<mlir::func::FuncOp> &graphs);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_CONTROLGRAPHS_H
