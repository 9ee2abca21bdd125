//===- JsonGuard.h - Refuses text too deep for a parser --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_JSONGUARD_H
#define FORETRACE_COMPILER_SUPPORT_JSONGUARD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace ft {

/// How deep brackets may nest, and how many prefix operators may follow each
/// other, in text from outside. LLVM's JSON parser and MLIR's parser recurse
/// on both and overflow the stack at some ten thousand.
constexpr unsigned kMaxDepth = 256;

/// Checks the bracket depth of JSON text in one pass. Whether it is JSON is
/// the parser's business. Fails with FT0105, naming line and column.
llvm::Error guardJson(llvm::StringRef text, llvm::StringRef where);

/// guardJson, then LLVM's parser; FT0104 with line and column for bad text.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text,
                                            llvm::StringRef where);

/// The same for MLIR text: brackets `( [ { <`, runs of prefix operators
/// (minus), chains of one affine expression's operators, and aliases,
/// whose depth and size count where they are used: a chain of aliases builds
/// an attribute as deep as brackets would, and doubling ones build an
/// exponentially large one. Fails with FT0105.
llvm::Error guardMlirText(llvm::StringRef text, llvm::StringRef where);

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_JSONGUARD_H
