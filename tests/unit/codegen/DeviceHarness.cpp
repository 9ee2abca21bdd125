//===- DeviceHarness.cpp - Kernels for a GPU, run by the emulator ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DeviceHarness.h"

#include "compiler/codegen/cuda/Ptxas.h"

namespace ft::test {

/// From the first to the last element of a memref.
static size_t extentOf(mlir::MemRefType type) {
  int64_t elements = 1;
  for (auto [size, stride] : llvm::zip(type.getShape(), staticStrides(type))) {
    if (size == 0)
      return 0;
    elements += (size - 1) * stride;
  }
  mlir::Type element = type.getElementType();
  return static_cast<size_t>(elements) *
         (element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8);
}

DeviceKernels::DeviceKernels(
    mlir::ModuleOp module, llvm::StringRef chip,
    const std::function<void(llvm::Module &)> &change) {
  auto kernel = module.lookupSymbol<mlir::func::FuncOp>("k");
  for (mlir::Type type : kernel.getArgumentTypes())
    bytes.push_back(extentOf(mlir::cast<mlir::MemRefType>(type)));
  auto target = CudaTarget::parse(chip);
  if (!target) {
    error = llvm::toString(target.takeError());
    return;
  }
  auto compiled = compileKernels(module, *target);
  if (!compiled) {
    error = llvm::toString(compiled.takeError());
    return;
  }
  code = std::move(*compiled);
  if (auto ptxas = findPtxas()) {
    auto assembled = assemble(*ptxas, code.ptx, *target);
    if (!assembled) {
      error = llvm::toString(assembled.takeError());
      return;
    }
  }
  auto loaded = emulator::Program::load(code.bitcode, change);
  if (!loaded) {
    error = llvm::toString(loaded.takeError());
    return;
  }
  program = std::move(*loaded);
}

std::string DeviceKernels::run(const std::vector<void *> &pointers) {
  emulator::Memory memory;
  std::vector<const void *> values(pointers.begin(), pointers.end());
  std::vector<void *> parameters;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i])
      memory.add(values[i], bytes[i]);
    parameters.push_back(&values[i]);
  }
  emulator::Grid grid{static_cast<unsigned>(code.kernels[0].blocks.value()),
                      static_cast<unsigned>(kBlockThreads)};
  return emulator::launch(*program->kernel("k"), memory, grid,
                          parameters.data());
}

} // namespace ft::test
