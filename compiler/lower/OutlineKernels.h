//===- OutlineKernels.h - Kernel functions from a schedule -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_OUTLINEKERNELS_H
#define FORETRACE_COMPILER_LOWER_OUTLINEKERNELS_H

#include "compiler/lower/Schedule.h"

#include "mlir/IR/BuiltinOps.h"

#include <unordered_map>

namespace ft {

/// Makes a private function of each kernel, on memrefs with the strides of its
/// tensors' placements. Equal kernels are one function: a network of twelve
/// equal layers has the kernels of one.
class KernelOutliner {
public:
  KernelOutliner(mlir::ModuleOp module, Schedule &schedule)
      : module(module), schedule(schedule) {}

  /// The function for the kernel; its arguments are the kernel's inputs, then
  /// its outputs, then its symbols.
  mlir::func::FuncOp outline(const ScheduledKernel &kernel);

private:
  void describeSizes(mlir::func::FuncOp function,
                     const ScheduledKernel &kernel);

  mlir::ModuleOp module;
  Schedule &schedule;
  /// Kernels by a hash of what they do.
  std::unordered_map<size_t, llvm::SmallVector<mlir::func::FuncOp, 1>> byHash;
  unsigned count = 0;
};

/// The memref through which a kernel sees a tensor: static shape and strides,
/// offset 0.
mlir::MemRefType memrefFor(mlir::Value tensor, const Placement &place);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_OUTLINEKERNELS_H
