//===- Ptxas.h - The assembler of the CUDA Toolkit -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CUDA_PTXAS_H
#define FORETRACE_COMPILER_CODEGEN_CUDA_PTXAS_H

#include "compiler/codegen/cuda/CudaTarget.h"

#include <optional>
#include <vector>

namespace ft {

/// What a kernel takes of a multiprocessor, as ptxas says.
struct KernelResources {
  std::string name;
  unsigned registers = 0;   ///< of each thread
  unsigned sharedBytes = 0; ///< of each block
  unsigned spillBytes = 0;  ///< stored and loaded by each thread
};

struct Assembled {
  std::string cubin;
  std::vector<KernelResources> kernels;
};

/// The path of ptxas: in PATH, $CUDA_HOME/bin or /usr/local/cuda/bin; nothing
/// if there is none.
std::optional<std::string> findPtxas();

/// Assembles PTX for the chip. Error FT0070 if ptxas does not take it, FT0003
/// if no temporary file can be written.
llvm::Expected<Assembled> assemble(llvm::StringRef ptxas, llvm::StringRef ptx,
                                   const CudaTarget &target);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CUDA_PTXAS_H
