//===- DeviceCalls.h - Launches in entry functions -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CUDA_DEVICECALLS_H
#define FORETRACE_COMPILER_CODEGEN_CUDA_DEVICECALLS_H

#include "compiler/codegen/cuda/DeviceKernel.h"

namespace ft {

/// Rewrites every func.call of a kernel that compileKernels has taken out of
/// the module:
///
///   func.call @k7(%a, %b, %s0)
/// becomes
///   slots = alloca {ptr, ptr, i64}; store a, b, s0
///   parameters = alloca [3 x ptr]; store the addresses of the slots
///   call @ft_rt_cuda_launch(exec, 7, blocks, parameters)
///
/// Kernels are numbered as in `kernels`. Failure, with a diagnostic, for a call
/// that is outside of an entry function.
mlir::LogicalResult rewriteDeviceCalls(mlir::ModuleOp module,
                                       llvm::ArrayRef<LaunchInfo> kernels);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CUDA_DEVICECALLS_H
