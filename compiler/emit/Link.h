//===- Link.h - Links a compiled model -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_EMIT_LINK_H
#define FORETRACE_COMPILER_EMIT_LINK_H

#include "compiler/emit/KernelFiles.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ft {

/// The ld.lld to use: `wanted` if given, else the one beside LLVM, else the
/// first in PATH. FT0004 if there is none.
llvm::Expected<std::string> findLinker(llvm::StringRef wanted);

/// Does the object define `entry` (ft_gen_forward) and, if that is not empty,
/// `sizes` (ft_gen_sizes), and need nothing but what the runtime has,
/// runtime/src/imports.def allows and `kernels` names? A `sanitized` one may
/// need AddressSanitizer too. FT0504 naming the symbols otherwise: this is
/// checked before the linker runs, whose messages would tell the user nothing.
llvm::Error checkObject(llvm::StringRef object, llvm::StringRef entry,
                        llvm::StringRef sizes,
                        llvm::ArrayRef<KernelSource> kernels = {},
                        bool sanitized = false);

struct LinkInputs {
  /// Bytes of the generated code, an object for each program.
  llvm::SmallVector<llvm::StringRef, 2> objects;
  llvm::StringRef descriptor; ///< bytes of the descriptor
  llvm::StringRef name;       ///< "out/model.so", for messages
  llvm::StringRef soname;     ///< "model.so"
  llvm::StringRef apiSymbol;  ///< "NAME_api", exported besides the fixed names
  const KernelFiles *kernels = nullptr; ///< code of custom operators
  bool sanitized = false; ///< with the instrumented archives of the runtime
};

/// Links the objects with the runtime, which is part of this program, into
/// the shared library `output`. The linker runs as a child process on files in
/// a temporary folder, which is removed. FT0003 when files cannot be written,
/// FT0601 when custom kernels need what a model does not have, FT0007 when the
/// linker fails.
llvm::Error linkModel(const LinkInputs &inputs, llvm::StringRef linker,
                      llvm::StringRef output);

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_LINK_H
