//===- TextImport.cpp - .mlir text → ft module -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/text/TextImport.h"

#include "compiler/import/Unregistered.h"
#include "compiler/import/text/SymbolCheck.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/TextGuard.h"

#include "mlir/Parser/Parser.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace ft {

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importText(llvm::StringRef text, llvm::StringRef name,
           mlir::MLIRContext &context) {
  if (llvm::Error error = guardMlirText(text, name))
    return std::move(error);
  // The lexer wants a zero byte behind the text, which a mapping may lack.
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                              llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources,
                                            mlir::ParserConfig(&context));
  if (!module)
    return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
  if (auto ops = unregisteredOps(*module); !ops.empty())
    return llvm::make_error<DiagnosticError>(
        std::vector<Diagnostic>{unregisteredDiagnostic(ops, name)});
  if (mlir::failed(checkSymbols(*module)))
    return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
  return module;
}

} // namespace ft
