//===- KernelCalls.h - Calls of kernels in entry functions -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CPU_KERNELCALLS_H
#define FORETRACE_COMPILER_CODEGEN_CPU_KERNELCALLS_H

#include "compiler/codegen/cpu/KernelEmitter.h"

namespace ft {

/// Rewrites every func.call of a kernel: memref operands become pointers, the
/// range (0, trips) is added, and calls that are long enough go through
/// ft_rt_parallel_for with a thunk that unpacks a struct of the arguments.
mlir::LogicalResult
rewriteKernelCalls(mlir::ModuleOp module,
                   const llvm::StringMap<KernelInfo> &kernels);

/// The address of a memref's first element, as a pointer.
mlir::Value pointerTo(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value memref);
/// Removes views that only a call that is gone has used.
void eraseUnused(llvm::ArrayRef<mlir::Value> values);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CPU_KERNELCALLS_H
