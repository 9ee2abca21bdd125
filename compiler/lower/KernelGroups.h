//===- KernelGroups.h - Which operations become one kernel -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_KERNELGROUPS_H
#define FORETRACE_COMPILER_LOWER_KERNELGROUPS_H

#include "compiler/lower/ValueDevices.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace ft {

/// What an operation of the lowered graph is to kernel formation.
enum class OpRole {
  /// Constants, `tensor.empty`, fills: repeated in each kernel that reads them.
  Init,
  /// `extract_slice`, `expand_shape`, `collapse_shape`, `cast`: another way to
  /// see a
  /// buffer; never a kernel of their own.
  View,
  /// A generic without reductions.
  Pointwise,
  /// A generic that multiplies and accumulates (matmul, convolution).
  Contraction,
  /// Any other generic with a reduction.
  Reduction,
  /// Padding, insertion, concatenation: copies of their own.
  Move,
  /// A call of a custom operator's kernel: a kernel of its own.
  Library,
  /// What stands in the entry function itself (`ft.check_index`, return).
  Entry
};
OpRole roleOf(mlir::Operation *op);

/// Whether the value is an init, or a view of one, which each kernel that reads
/// it repeats.
bool isInit(mlir::Value tensor);

/// Partitions the compute operations of a function into kernels.
///
/// Example (BERT's feed-forward; sizes in brackets):
///   %c = contraction x w [128, 3072]   ┐
///   %b = pointwise %c + bias           ├ kernel 1
///   %g = pointwise gelu %b             ┘
///   %d = contraction %g w2 [128, 768]  ┐ kernel 2
///   %r = pointwise %d + residual       ┘
///   %m, %v, %n = layer norm of %r        kernel 3 (one group of one rule)
///
/// In program order each operation joins the kernel of one of its operands or
/// starts a new one:
///  1. a contraction, and a move, always starts a kernel;
///  2. a reduction, or a pointwise op, joins a kernel without contraction whose
///     ops come from the same rule (`ft.group`);
///  3. a pointwise op joins the kernel of an operand of its own size: the bytes
///     of that operand are then neither written nor read back;
///  4. a reduction takes in a pointwise kernel that only its group reads;
///  5. pointwise ops of calls with one ft.fuse are one kernel, whether or not
///     one reads another, and join no other.
/// An operation joins only if nobody outside has used the kernel's values yet:
/// the kernel can then run where its last operation stands.
///
/// Invariant: kernels, ordered by their last operation, can run one after the
/// other. Cost: linear in operations and uses.
struct KernelGroups {
  /// The compute operations of each kernel in program order; kernels in the
  /// order in which they run.
  std::vector<llvm::SmallVector<mlir::Operation *, 4>> kernels;
  llvm::DenseMap<mlir::Operation *, unsigned> kernelOf;

  /// Operations of different devices are never in one kernel.
  static KernelGroups form(mlir::func::FuncOp function, TensorSizes &sizes,
                           const ValueDevices &devices = {});
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_KERNELGROUPS_H
