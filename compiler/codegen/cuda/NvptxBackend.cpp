//===- NvptxBackend.cpp - From the LLVM dialect to PTX --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cuda/NvptxBackend.h"

#include "compiler/codegen/cpu/OptimizeIr.h"
#include "compiler/support/Diagnostics.h"

#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;

namespace ft {

static std::unique_ptr<llvm::TargetMachine> machineFor(const CudaTarget &target,
                                                       std::string &message) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.chip, target.features(), llvm::TargetOptions(),
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// What the backend has instructions for, of what kernels come to. What is not
/// listed may be there for one type and end the process for another.
static bool isOnDevice(const llvm::Function &callee) {
  using namespace llvm;
  switch (callee.getIntrinsicID()) {
  case Intrinsic::abs:
  case Intrinsic::assume:
  case Intrinsic::bitreverse:
  case Intrinsic::bswap:
  case Intrinsic::ceil:
  case Intrinsic::copysign:
  case Intrinsic::ctlz:
  case Intrinsic::ctpop:
  case Intrinsic::cttz:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::fabs:
  case Intrinsic::floor:
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::is_fpclass:
  case Intrinsic::lifetime_end:
  case Intrinsic::lifetime_start:
  case Intrinsic::maximum:
  case Intrinsic::maxnum:
  case Intrinsic::memcpy:
  case Intrinsic::memset:
  case Intrinsic::minimum:
  case Intrinsic::minnum:
  case Intrinsic::nearbyint:
  case Intrinsic::rint:
  case Intrinsic::roundeven:
  case Intrinsic::sadd_sat:
  case Intrinsic::sadd_with_overflow:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::smul_with_overflow:
  case Intrinsic::sqrt:
  case Intrinsic::ssub_sat:
  case Intrinsic::ssub_with_overflow:
  case Intrinsic::trunc:
  case Intrinsic::uadd_sat:
  case Intrinsic::uadd_with_overflow:
  case Intrinsic::umax:
  case Intrinsic::umin:
  case Intrinsic::umul_with_overflow:
  case Intrinsic::usub_sat:
  case Intrinsic::usub_with_overflow:
    return true;
  default:
    return callee.getName().starts_with("llvm.nvvm.");
  }
}

/// Functions that kernels need and a device does not have, with the kernels.
static llvm::Error checkCalls(const llvm::Module &module) {
  llvm::SmallVector<std::string> missing;
  for (const llvm::Function &f : module) {
    llvm::StringSet<> here;
    for (const llvm::Instruction &i : llvm::instructions(f)) {
      std::string what;
      if (i.getOpcode() == llvm::Instruction::FRem)
        what = "fmod";
      else if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&i))
        if (const llvm::Function *callee = call->getCalledFunction();
            callee && callee->isDeclaration() && !isOnDevice(*callee))
          what = callee->getName().str();
      if (!what.empty() && here.insert(what).second)
        missing.push_back(what + " (in " + f.getName().str() + ")");
    }
  }
  if (missing.empty())
    return llvm::Error::success();
  std::string all;
  for (const std::string &m : missing)
    all += (all.empty() ? "" : ", ") + m;
  return makeError(DiagId::NoLowering, all,
                   "a CUDA device does not have what kernels call: " + all,
                   "compile for the CPU (--target cpu)");
}

llvm::Expected<DeviceText> emitPtx(ModuleOp module, const CudaTarget &target,
                                   unsigned threads) {
  llvm::LLVMContext context;
  // Without a handler, an error ends the process.
  std::string report;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *to) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream os(*static_cast<std::string *>(to));
        llvm::DiagnosticPrinterRawOStream printer(os);
        info->print(printer);
        os << "; ";
      },
      &report);
  std::unique_ptr<llvm::Module> device =
      translateModuleToLLVMIR(module, context, "foretrace");
  if (!device)
    return makeError(DiagId::Internal, "",
                     "the LLVM dialect cannot be translated for the device");
  std::string message;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(target, message);
  if (!machine)
    return makeError(DiagId::BadTarget, "", message);
  device->setTargetTriple(machine->getTargetTriple());
  device->setDataLayout(machine->createDataLayout());
  for (llvm::Function &f : *device) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr(llvm::Attribute::NoUnwind);
    f.addFnAttr("target-cpu", target.chip);
    f.addFnAttr("target-features", target.features());
    if (f.hasExternalLinkage()) {
      f.setCallingConv(llvm::CallingConv::PTX_Kernel);
      f.addFnAttr("nvvm.reqntid", std::to_string(threads));
    }
  }

  optimizeIr(*device, *machine);
  if (llvm::Error error = checkCalls(*device))
    return error;

  DeviceText text;
  {
    llvm::raw_string_ostream os(text.bitcode);
    llvm::WriteBitcodeToFile(*device, os);
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, os, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return makeError(DiagId::Internal, "", "the target emits no PTX");
  codegen.run(*device);
  if (!report.empty())
    return makeError(DiagId::Internal, "",
                     "no PTX for " + target.chip + ": " + report);
  text.ptx.assign(bytes.begin(), bytes.end());
  return text;
}

} // namespace ft
