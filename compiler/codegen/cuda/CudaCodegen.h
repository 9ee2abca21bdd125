//===- CudaCodegen.h - From kernels on tensors to PTX ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CUDA_CUDACODEGEN_H
#define FORETRACE_COMPILER_CODEGEN_CUDA_CUDACODEGEN_H

#include "compiler/codegen/cuda/CudaTarget.h"
#include "compiler/codegen/cuda/DeviceKernel.h"

namespace ft {

/// The kernels of a program for one kind of GPU.
struct DeviceCode {
  std::string ptx;
  /// The LLVM IR that the PTX was made of, as bitcode.
  std::string bitcode;
  std::vector<LaunchInfo> kernels;
};

/// Rows of a panel of packed weights (compiler/codegen/cpu/README.md): what a
/// warp reads side by side.
inline constexpr int64_t kDevicePanel = 32;

/// Bitcode in the form in which the emulator's driver takes a module: a mark, 8
/// bytes with the size, and the bitcode.
inline constexpr llvm::StringLiteral kEmulatedMark = "FTEMUCUD";
std::string emulatedImage(llvm::StringRef bitcode);

/// Loads the dialects that compileKernels needs into the registry.
void registerCudaCodegenDialects(mlir::DialectRegistry &registry);

/// On a kernel of a program for two devices: it runs on the CPU.
inline constexpr llvm::StringLiteral kHostKernel = "ft.host";

/// Compiles all kernels (`ft.kernel`) of the module that are not the host's, in
/// the form that compiler/codegen/cpu/README.md describes, and takes them out
/// of it; calls of them stay. The same module and target give the same bytes.
/// Error FT0501 names all kernels that have no code.
llvm::Expected<DeviceCode> compileKernels(mlir::ModuleOp module,
                                          const CudaTarget &target);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CUDA_CUDACODEGEN_H
