//===- CudaCodegen.cpp - From kernels on tensors to PTX -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cuda/CudaCodegen.h"

#include "compiler/codegen/cpu/LlvmBackend.h"
#include "compiler/codegen/cpu/MathLowering.h"
#include "compiler/codegen/cuda/NvptxBackend.h"
#include "compiler/support/Diagnostics.h"

using namespace mlir;

namespace ft {

void registerCudaCodegenDialects(DialectRegistry &registry) {
  registerCpuCodegenDialects(registry);
}

std::string emulatedImage(llvm::StringRef bitcode) {
  std::string image = kEmulatedMark.str();
  for (unsigned i = 0; i < 8; ++i)
    image.push_back(static_cast<char>(bitcode.size() >> (8 * i)));
  return image + bitcode.str();
}

llvm::Expected<DeviceCode> compileKernels(ModuleOp module,
                                          const CudaTarget &target) {
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerCudaCodegenDialects(registry);
  context->appendDialectRegistry(registry);
  context->loadAllAvailableDialects();

  // What passes report goes into the error.
  std::string report;
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error && report.empty())
      llvm::raw_string_ostream(report) << d;
    return success();
  });

  OwningOpRef<ModuleOp> device = ModuleOp::create(module.getLoc());
  SmallVector<func::FuncOp> kernels;
  for (auto f : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (f->hasAttr("ft.kernel") && !f->hasAttr(kHostKernel) &&
        !f.isDeclaration()) {
      f->moveBefore(device->getBody(), device->getBody()->end());
      kernels.push_back(f);
    }
  DeviceCode code;
  std::string without;
  for (func::FuncOp kernel : kernels) {
    std::string name = kernel.getName().str();
    FailureOr<LaunchInfo> info = emitDeviceKernel(kernel, target.tf32);
    if (failed(info))
      without += (without.empty() ? "" : ", ") + name;
    else
      code.kernels.push_back(std::move(*info));
  }
  if (!without.empty())
    return makeError(DiagId::NoLowering, without,
                     "no code for CUDA: " + report);
  if (kernels.empty())
    return code;
  lowerMath(*device);
  if (failed(lowerToLlvmDialect(*device)))
    return makeError(DiagId::Internal, "",
                     "code generation for the device failed: " + report);
  llvm::Expected<DeviceText> text =
      emitPtx(*device, target, static_cast<unsigned>(kBlockThreads));
  if (!text)
    return text.takeError();
  code.ptx = std::move(text->ptx);
  code.bitcode = std::move(text->bitcode);
  return code;
}

} // namespace ft
