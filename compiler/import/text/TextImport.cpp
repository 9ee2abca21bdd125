//===- TextImport.cpp - .mlir text → ft module -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/text/TextImport.h"

#include "compiler/import/Unregistered.h"
#include "compiler/import/text/SymbolCheck.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/TextGuard.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/Programs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace ft {

/// The first negative size in a type, `tensor<2x-3xf32>`, which MLIR's parser
/// takes for the end of the type and reports as something else.
static llvm::Error checkSizes(llvm::StringRef text, llvm::StringRef name) {
  for (size_t at = text.find('-'); at != llvm::StringRef::npos;
       at = text.find('-', at + 1)) {
    llvm::StringRef before = text.take_front(at), rest = text.drop_front(at);
    if (rest.size() < 2 || !llvm::isDigit(rest[1]) ||
        !(before.ends_with("x") || before.ends_with("<")))
      continue;
    llvm::StringRef type = before.rtrim("0123456789x?");
    if (!type.ends_with("tensor<") && !type.ends_with("memref<"))
      continue;
    llvm::StringRef line = before.take_back(at - (before.rfind('\n') + 1));
    if (line.count('"') % 2) // inside of a string
      continue;
    llvm::StringRef size =
        rest.take_front(1 + rest.drop_front().find_first_not_of("0123456789"));
    return makeError(DiagId::BadText,
                     (name + ":" + llvm::Twine(before.count('\n') + 1) + ":" +
                      llvm::Twine(line.size() + 1))
                         .str(),
                     "size " + size + " of a type must not be negative");
  }
  return llvm::Error::success();
}

/// Arguments of a model are found by name: to give an input, to return a
/// gradient, to store a result.
static mlir::LogicalResult checkNames(mlir::ModuleOp module) {
  auto forward = module.lookupSymbol<mlir::func::FuncOp>("forward");
  llvm::StringMap<unsigned> seen;
  for (unsigned n = 0; forward && n < forward.getNumArguments(); ++n) {
    auto name = forward.getArgAttrOfType<mlir::StringAttr>(n, names::kTarget);
    auto kind = forward.getArgAttrOfType<mlir::StringAttr>(n, names::kKind);
    if (!name || (kind && kind.getValue() == "packed"))
      continue;
    auto [other, isNew] = seen.try_emplace(name.getValue(), n);
    if (!isNew)
      return forward.emitError("[FT0107] arguments ")
             << other->second << " and " << n << " of @forward are both '"
             << name.getValue() << "' in ft.target";
  }
  return mlir::success();
}

/// After stage partition modules in the module are its programs. Stage lower
/// gives the function another name.
static mlir::LogicalResult checkPrograms(mlir::ModuleOp module) {
  auto stage = module->getAttrOfType<mlir::StringAttr>(names::kStage);
  if (stage && (stage.getValue() == "lower" || stage.getValue() == "codegen"))
    return mlir::success();
  for (mlir::ModuleOp program : programsOf(module)) {
    auto forward = program.lookupSymbol<mlir::func::FuncOp>("forward");
    if (forward ? forward.isExternal() : program != module)
      return program.emitError(
          forward ? "[FT0107] @forward has no body"
                  : "[FT0107] a module in the module has no function @forward");
  }
  return mlir::success();
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importText(llvm::StringRef text, llvm::StringRef name,
           mlir::MLIRContext &context) {
  if (llvm::Error error = guardMlirText(text, name))
    return std::move(error);
  if (llvm::Error error = checkSizes(text, name))
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
  if (mlir::failed(checkPrograms(*module)) ||
      mlir::failed(checkNames(*module)) || mlir::failed(checkSymbols(*module)))
    return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
  return module;
}

} // namespace ft
