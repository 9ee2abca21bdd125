//===- SplitJoint.h - Joint graph → forward and backward -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The partition stage. Input: a joint graph (compiler/autograd). Output: two
// programs, each a module with a function @forward of its own:
//
//   @forward(%w, %x, %t {tangent})          module @forward {
//     %0 = ft.mm(%x, %w)                      @forward(%w, %x) {
//     %1 = ft.relu(%0)                  →       … return %1, %1 {ft.role saved}
//     %2 = ft.threshold_backward(%t, %1)      }
//     …                                     }
//     return %1, %4 {gradient}              module @backward {
//                                             @forward(%w, %x, %s {kind saved},
//                                                      %t {kind tangent}) {
//                                               … return %4 {gradient}
//
// What the results of the forward need is in forward, what tangents need in
// backward. Of the forward values that backward reads some are saved
// (KeptValues.h says which), the others computed again, in front of the first
// call that reads them; those calls are marked `ft.again`. An argument that
// forward writes is saved as it was before.
//
// Invariant: no tangent reaches forward; each program is a module that every
// later stage takes as a model of its own.
// Cost: linear in the number of calls.
//
// Arguments keep their ft.kind, ft.name and ft.target, but that parameters and
// buffers come from the caller in both programs ("given_parameter"). Results of
// the backward are the gradients, in the order of the arguments.

#ifndef FORETRACE_COMPILER_PARTITION_SPLITJOINT_H
#define FORETRACE_COMPILER_PARTITION_SPLITJOINT_H

#include "compiler/partition/PartitionOptions.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/SmallVector.h"

namespace ft {

/// Replaces the joint graph of a module by its programs.
mlir::LogicalResult splitJoint(mlir::ModuleOp module,
                               const PartitionOptions &options = {});

/// The stage verifier: in forward there is no tangent, in backward each saved
/// value is one that forward returns, of the same type. Reports [FT0901].
mlir::LogicalResult verifyPartitionStage(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_SPLITJOINT_H
