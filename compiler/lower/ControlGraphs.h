//===- ControlGraphs.h - Branches and loops as functions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_CONTROLGRAPHS_H
#define FORETRACE_COMPILER_LOWER_CONTROLGRAPHS_H

#include "compiler/lower/LowerState.h"

namespace ft {

/// Attributes of an `ft.run_graphs` beside those that it declares.
namespace names {
/// Of a "scan": how many operands behind the carried ones are cut along their
/// first dim, and that its last position comes first.
inline constexpr llvm::StringLiteral kSliced = "ft.sliced";
inline constexpr llvm::StringLiteral kReverse = "ft.reverse";
/// Of a "cond": for each graph, symbols and the expressions that they stand for
/// when it has run, one after the other.
inline constexpr llvm::StringLiteral kTells = "ft.tells";
} // namespace names

/// The dtype of the 0-dim tensor that stands for a number of this type.
std::optional<DType> dtypeOfNumber(mlir::Type type);

/// Makes a function of each region of an `ft.cond`, `ft.while` or `ft.scan`,
/// and an `ft.run_graphs` of the op: regions are isolated, so what one reads
/// are its arguments.
///
///   ft.cond(%p, %x) then (%a) {…} else (%a) {…}
///   ==>  ft.run_graphs "cond"(%p, %x) [@graph0, @graph1]
///
/// The functions are lowered as @forward is, each to a schedule of its own, and
/// take their tensors row-major; a scan's are cut along their first physical
/// dim, and stack what they give there. Numbers are 0-dim tensors, but for
/// captured ones that follow from sizes, which the function knows. Their memory
/// is a part of the arena that stands still while another step runs. Where the
/// branches of a cond decide a size, each makes the memory of that result.
/// The functions are added to `graphs`.
mlir::LogicalResult
lowerControl(LowerState &state, mlir::Operation *op, mlir::OpBuilder &b,
             llvm::SmallVectorImpl<mlir::func::FuncOp> &graphs);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_CONTROLGRAPHS_H
