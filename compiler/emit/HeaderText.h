//===- HeaderText.h - The C header of a compiled model ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_EMIT_HEADERTEXT_H
#define FORETRACE_COMPILER_EMIT_HEADERTEXT_H

#include "compiler/emit/Artefact.h"

#include "llvm/ADT/StringRef.h"

namespace ft {

/// The text of FILE.h, beside FILE.so: what the model takes and gives as
/// comments, a copy of foretrace/runtime.h, and wrappers with typed pointers.
/// C99 and C++.
std::string headerText(const Artefact &artefact, llvm::StringRef compileId,
                       llvm::StringRef file);

/// "float32", "bool", "complex64".
std::string dtypeName(AbiDType dtype);

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_HEADERTEXT_H
