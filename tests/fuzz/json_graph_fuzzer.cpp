//===- json_graph_fuzzer.cpp - Bytes as the JSON of a program --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes are, the program is read and imported, or refused. Tensors
// of the signature count as saved: each gets a record that its own declaration
// fits, so that the import goes on behind the weights.

#include "compiler/import/pt2/Pt2Import.h"
#include "compiler/import/pt2/Schema.h"
#include "compiler/support/Diagnostics.h"
#include "tests/fuzz/FuzzCheck.h"

#include "mlir/IR/MLIRContext.h"

using namespace ft;

/// Types and attributes live as long as their context: a fresh one now and then
/// keeps the memory bounded.
static mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned runs = 0;
  if (runs++ % 256 == 0)
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

static void addRecords(pt2::Program &program) {
  for (const pt2::InputSpec &spec : program.inputs) {
    auto info = program.graph.tensors.find(spec.arg.text);
    if (spec.kind == pt2::InputSpec::UserInput ||
        info == program.graph.tensors.end())
      continue;
    pt2::TensorRecord &record = program.weights[spec.target];
    record.info = info->second;
    record.record = "data/weights/weight_0";
    llvm::consumeError(pt2::checkExtent(spec.target, record, 1 << 20, "fuzz"));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::StringMap<pt2::TensorRecord> tensors;
  llvm::consumeError(
      pt2::readTensorConfig(text, "fuzz", "data/weights/", tensors));
  pt2::Program program;
  if (llvm::Error error = pt2::readProgramJson(text, "fuzz", program)) {
    llvm::consumeError(std::move(error));
    return 0;
  }
  addRecords(program);
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      pt2::importProgram(program, "fuzz", "model", freshContext());
  if (!module) {
    // Every refusal says why, and none blames the compiler.
    std::vector<Diagnostic> rows = takeDiagnostics(module.takeError());
    FUZZ_CHECK(!rows.empty());
    for (const Diagnostic &row : rows)
      FUZZ_CHECK(diagExitClass(row.id) != ExitClass::Internal);
  }
  return 0;
}
