//===- OutlineKernels.h - Kernel functions from a schedule -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_OUTLINEKERNELS_H
#define FORETRACE_COMPILER_LOWER_OUTLINEKERNELS_H

#include "compiler/lower/Schedule.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

namespace ft {

/// Makes a private function of each kernel, on memrefs with the strides of its
/// tensors' placements. Kernels of equal text are one function: a network of
/// twelve equal layers has the kernels of one.
class KernelOutliner {
public:
  KernelOutliner(mlir::ModuleOp module, const Schedule &schedule)
      : module(module), schedule(schedule) {}

  /// The function for the kernel; its arguments are the kernel's inputs, then
  /// its outputs.
  mlir::func::FuncOp outline(const ScheduledKernel &kernel);

private:
  mlir::ModuleOp module;
  const Schedule &schedule;
  llvm::StringMap<mlir::func::FuncOp> byText;
};

/// The memref through which a kernel sees a tensor: static shape and strides,
/// offset 0.
mlir::MemRefType memrefFor(mlir::Value tensor, const Placement &place);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_OUTLINEKERNELS_H
