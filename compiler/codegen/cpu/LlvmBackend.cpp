//===- LlvmBackend.cpp - From the LLVM dialect to an object ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cpu/LlvmBackend.h"

#include "compiler/codegen/cpu/CheckUndefined.h"
#include "compiler/codegen/cpu/OptimizeIr.h"
#include "compiler/support/Diagnostics.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"

using namespace mlir;

namespace ft {

namespace {

/// All dialects at once: one walk, and no casts left between steps.
struct ConvertAllToLlvmPass
    : PassWrapper<ConvertAllToLlvmPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertAllToLlvmPass)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(context, options);
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    // Preferred: the patterns for libm take vectors apart.
    populateMathToLLVMConversionPatterns(
        converter, patterns, /*approximateLog1p=*/false, PatternBenefit(2));
    populateMathToLibmConversionPatterns(patterns);
    populateComplexToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

LogicalResult lowerToLlvmDialect(ModuleOp module) {
  PassManager pm(module.getContext(), module.getOperationName());
  pm.enableVerifier(false); // what comes out is verified once, as LLVM IR
  pm.addPass(createConvertComplexToStandardPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(std::make_unique<ConvertAllToLlvmPass>());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return pm.run(module);
}

/// Calls instead of code for each access: kernels of unrolled tiles have many,
/// and the backend's time grows faster than their number.
static void addAddressSanitizer(llvm::PassBuilder &builder) {
  builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &passes,
                                             llvm::OptimizationLevel,
                                             llvm::ThinOrFullLTOPhase) {
    llvm::AddressSanitizerOptions options;
    options.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
    options.InstrumentationWithCallsThreshold = 0;
    passes.addPass(llvm::AddressSanitizerPass(options, /*UseGlobalGC=*/false,
                                              /*UseOdrIndicator=*/false));
  });
}

llvm::Expected<std::string> emitObject(ModuleOp module, const CpuTarget &target,
                                       const CpuCodegenOptions &options) {
  static const bool initialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)initialized;

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "foretrace");
  if (!llvmModule)
    return makeError(DiagId::Internal, "",
                     "the LLVM dialect cannot be translated");

  std::string message;
  llvm::Triple triple(target.triple);
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return makeError(DiagId::BadTarget, "", message);
  llvm::TargetOptions targetOptions;
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.cpu, target.featureString, targetOptions,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  llvmModule->setTargetTriple(triple);
  llvmModule->setDataLayout(machine->createDataLayout());
  llvmModule->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &f : *llvmModule) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", target.cpu);
    f.addFnAttr("target-features", target.featureString);
    if (target.isa.vectorBytes == 64)
      f.addFnAttr("prefer-vector-width", "512");
    f.addFnAttr(llvm::Attribute::NoUnwind);
    if (f.hasInternalLinkage())
      f.addFnAttr(llvm::Attribute::NoInline);
  }

  if (options.checks.undefined)
    checkUndefined(*llvmModule);
  if (options.checks.address)
    for (llvm::Function &f : *llvmModule)
      if (!f.isDeclaration())
        f.addFnAttr(llvm::Attribute::SanitizeAddress);

  optimizeIr(*llvmModule, *machine, [&](llvm::PassBuilder &builder) {
    if (options.checks.address)
      addAddressSanitizer(builder);
  });
  if (options.onLlvmIr) {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvmModule->print(os, nullptr);
    options.onLlvmIr(text);
  }

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, os, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return makeError(DiagId::Internal, "", "the target emits no object files");
  codegen.run(*llvmModule);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace ft
