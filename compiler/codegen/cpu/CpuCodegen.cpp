//===- CpuCodegen.cpp - From kernels on tensors to object code ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/CpuCodegen.h"

#include "compiler/codegen/cpu/KernelCalls.h"
#include "compiler/codegen/cpu/KernelEmitter.h"
#include "compiler/codegen/cpu/LlvmBackend.h"
#include "compiler/codegen/cpu/MathLowering.h"
#include "compiler/support/Diagnostics.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace ft {

void registerCpuCodegenDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect,
              bufferization::BufferizationDialect, cf::ControlFlowDialect,
              complex::ComplexDialect, func::FuncDialect, index::IndexDialect,
              linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
              memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect,
              ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

int64_t kernelScratchBytes(func::FuncOp, const CpuTarget &) { return 0; }

llvm::Expected<std::string> compileToObject(ModuleOp module,
                                            const CpuTarget &target,
                                            const CpuCodegenOptions &options) {
  DialectRegistry registry;
  registerCpuCodegenDialects(registry);
  MLIRContext *context = module.getContext();
  context->appendDialectRegistry(registry);
  context->loadAllAvailableDialects();

  // What passes report goes into the error.
  std::string report;
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &d) {
    if (d.getSeverity() != DiagnosticSeverity::Error)
      return success();
    if (report.empty())
      llvm::raw_string_ostream(report) << d;
    return success();
  });

  SmallVector<func::FuncOp> kernels;
  for (auto f : module.getOps<func::FuncOp>())
    if (f->hasAttr("ft.kernel") && !f.isDeclaration())
      kernels.push_back(f);
  llvm::StringMap<KernelInfo> infos;
  for (func::FuncOp kernel : kernels) {
    std::string name = kernel.getName().str();
    FailureOr<KernelInfo> info = emitKernel(kernel, target, options);
    if (failed(info))
      return makeError(DiagId::NoLowering, name, report);
    infos[name] = *info;
  }
  bool ok = succeeded(rewriteKernelCalls(module, infos));
  if (ok)
    lowerMath(module);
  if (!ok || failed(lowerToLlvmDialect(module)))
    return makeError(DiagId::Internal, "", "code generation failed: " + report);
  if (options.onLlvmDialect)
    options.onLlvmDialect(module);
  return emitObject(module, target, options);
}

} // namespace ft
