//===- KernelFiles.h - The code of custom operators ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_EMIT_KERNELFILES_H
#define FORETRACE_COMPILER_EMIT_KERNELFILES_H

#include "compiler/emit/Artefact.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace ft {

/// The object files and static archives that a model's custom kernels are
/// linked from, read into memory: each once, in the order of first use.
struct KernelFiles {
  struct File {
    std::string path;
    std::unique_ptr<llvm::MemoryBuffer> bytes;
  };
  std::vector<File> files;

  /// Reads and checks them: each must be an x86-64 ELF object or an archive of
  /// such (FT0601), and one of a kernel's files must define its symbol
  /// (FT0601). FT0002 for a file that cannot be read.
  static llvm::Expected<KernelFiles> read(llvm::ArrayRef<KernelSource> kernels);
};

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_KERNELFILES_H
