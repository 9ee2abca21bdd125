//===- TextImport.h - .mlir text → ft module -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_IMPORT_TEXT_TEXTIMPORT_H
#define FORETRACE_COMPILER_IMPORT_TEXT_TEXTIMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ft {

/// Parses and verifies the text of a module; `name` stands for it in
/// locations. Text that is too deep for MLIR's parser is FT0105 before the
/// parser sees it. The parser's own errors go to the context's handler, and
/// the returned error then has no rows.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importText(llvm::StringRef text, llvm::StringRef name,
           mlir::MLIRContext &context);

} // namespace ft

#endif // FORETRACE_COMPILER_IMPORT_TEXT_TEXTIMPORT_H
