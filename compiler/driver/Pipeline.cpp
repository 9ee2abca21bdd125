//===- Pipeline.cpp - What running one stage means -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Pipeline.h"

#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

namespace ft {

void registerPipelineDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<FtDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect>();
}

using StageFunction = llvm::Error (*)(PipelineState &);

/// One row for each stage that works on the module; null: not in this build.
static StageFunction functionOf(Stage stage) {
  switch (stage) {
  case Stage::Import:
  case Stage::Emit:
  case Stage::Fake:
  case Stage::Functionalize:
  case Stage::Autograd:
  case Stage::Partition:
  case Stage::Lower:
  case Stage::Codegen:
    return nullptr;
  }
  return nullptr;
}

bool hasStage(Stage stage) {
  return stage == Stage::Import || functionOf(stage);
}

bool isForTraining(Stage stage) {
  return stage == Stage::Autograd || stage == Stage::Partition;
}

Stage stageAfter(Stage stage, Stage last) {
  Stage next = stage;
  do
    next = static_cast<Stage>(static_cast<int>(next) + 1);
  while (next != last && isForTraining(next));
  return next;
}

llvm::Error runStage(Stage stage, PipelineState &state) {
  const StageInfo &info = stageInfo(stage);
  StageFunction run = functionOf(stage);
  if (!run)
    return makeError(DiagId::NotYetSupported, "",
                     llvm::Twine("stage '") + info.name +
                         "' is not in this build",
                     "`foretrace stages` lists those that are");
  if (llvm::Error error = run(state))
    return error;
  if (state.options.verify && mlir::failed(mlir::verify(state.module)))
    return llvm::make_error<DiagnosticError>(std::vector<Diagnostic>{});
  state.module->setAttr(
      names::kStage,
      mlir::StringAttr::get(state.module.getContext(), info.name));
  return llvm::Error::success();
}

} // namespace ft
