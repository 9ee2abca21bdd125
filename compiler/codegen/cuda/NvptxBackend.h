//===- NvptxBackend.h - From the LLVM dialect to PTX -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CUDA_NVPTXBACKEND_H
#define FORETRACE_COMPILER_CODEGEN_CUDA_NVPTXBACKEND_H

#include "compiler/codegen/cuda/CudaTarget.h"

#include "mlir/IR/BuiltinOps.h"

namespace ft {

struct DeviceText {
  std::string ptx;
  /// The LLVM IR that `ptx` was made of, optimized, as bitcode.
  std::string bitcode;
};

/// Translates the module (LLVM dialect; every function with external linkage is
/// a kernel of blocks of `threads` threads), optimizes it and writes PTX.
/// Error FT0501 names the functions and intrinsics that kernels call and that a
/// device does not have: the backend would end the process on them.
llvm::Expected<DeviceText> emitPtx(mlir::ModuleOp module,
                                   const CudaTarget &target, unsigned threads);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CUDA_NVPTXBACKEND_H
