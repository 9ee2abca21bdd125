//===- mlir_text_fuzzer.cpp - Bytes as .mlir text --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text is refused by the guard or by MLIR's parser, or gives a module that
// verifies and prints. As in the compiler, the parser runs where the stack is
// large, and knows no dialects but the ones that stages use.

#include "compiler/import/text/TextImport.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtDialect.h"
#include "tests/fuzz/FuzzCheck.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include "llvm/Support/thread.h"

using namespace ft;

static mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned runs = 0;
  if (runs++ % 256 == 0) {
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
    context->loadDialect<FtDialect, mlir::arith::ArithDialect,
                         mlir::func::FuncDialect>();
    context->getDiagEngine().registerHandler([](mlir::Diagnostic &) {});
  }
  return *context;
}

static void parse(llvm::StringRef text) {
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      importText(text, "fuzz.mlir", freshContext());
  if (!module) {
    llvm::consumeError(module.takeError());
    return;
  }
  std::string printed;
  llvm::raw_string_ostream os(printed);
  (*module)->print(os);
  FUZZ_CHECK(!printed.empty());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::thread thread(std::optional<unsigned>(256u << 20),
                      [text] { parse(text); });
  thread.join();
  return 0;
}
