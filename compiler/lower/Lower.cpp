//===- Lower.cpp - From annotated graphs to kernels and a schedule *- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Lower.h"

#include "compiler/lower/CheckGraph.h"
#include "compiler/lower/EntryFunction.h"
#include "compiler/lower/Schedule.h"
#include "compiler/lower/ToLinalg.h"
#include "dialects/ft/FtDialect.h"
#include "dialects/ft/FtOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace ft {

void registerLowerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, complex::ComplexDialect,
                  func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
}

LogicalResult lowerModule(ModuleOp module, const LowerOptions &options) {
  // A stage may run outside of a pass manager, which would load them.
  DialectRegistry registry;
  registerLowerDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    module.getContext()->getOrLoadDialect(name);
  auto graph = module.lookupSymbol<func::FuncOp>("forward");
  if (graph && !graph.isExternal() &&
      (failed(checkValues(graph)) || failed(checkInterface(graph))))
    return failure();
  if (failed(lowerToLinalg(module, options.panelWidth)))
    return failure();
  // Unused results go, reshapes of reshapes meet, equal ops become one.
  PassManager passes(module.getContext(), func::FuncOp::getOperationName());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  for (auto graph : module.getOps<func::FuncOp>())
    if (failed(passes.run(graph)))
      return failure();
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  FailureOr<Schedule> schedule =
      Schedule::build(function, nullptr, options.redZone());
  if (failed(schedule))
    return failure();
  if (failed(emitEntryFunction(module, *schedule, options)))
    return failure();
  schedule->plan.attachTo(module);
  function.erase();
  return verifyLowered(module);
}

LogicalResult verifyLowered(ModuleOp module) {
  WalkResult walked = module.walk([](Operation *op) {
    if (isa_and_nonnull<FtDialect>(op->getDialect()) &&
        // The plan names symbols; kernels compute with sizes.
        !isa<SymbolOp, FactOp, SizeOp>(op)) {
      op->emitError("[FT0070] is left after lowering");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

} // namespace ft
