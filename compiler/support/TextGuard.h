//===- TextGuard.h - Refuses text too deep for a parser --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_TEXTGUARD_H
#define FORETRACE_COMPILER_SUPPORT_TEXTGUARD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ft {

/// How deep brackets may nest, and how many prefix operators may follow each
/// other, in text from outside. Recursive parsers (MLIR's, our JSON reader)
/// would overflow the stack at some ten thousand.
constexpr unsigned kMaxDepth = 256;

/// Checks MLIR text in one pass: brackets `( [ { <`, runs of prefix operators
/// (minus), chains of one affine expression's operators, and aliases,
/// whose depth and size count where they are used: a chain of aliases builds
/// an attribute as deep as brackets would, and doubling ones build an
/// exponentially large one. Fails with FT0105.
llvm::Error guardMlirText(llvm::StringRef text, llvm::StringRef where);

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_TEXTGUARD_H
