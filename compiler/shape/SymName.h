//===- SymName.h - Which texts name a symbol -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_SYMNAME_H
#define FORETRACE_COMPILER_SHAPE_SYMNAME_H

#include "llvm/ADT/StringRef.h"

namespace ft {

/// Letters, digits, `_` and `.`, a letter or `_` first, and no word of the
/// syntax (and, or, not, True, False): what SymContext::parse reads as a name.
/// A symbol of another name would print as text that does not read back.
bool isSymbolName(llvm::StringRef name);

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_SYMNAME_H
