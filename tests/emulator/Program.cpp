//===- Program.cpp - Kernels, loaded and run ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"

#include "Instrument.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

#include <bit>
#include <cmath>

using namespace llvm;

namespace ft::emulator {

//===----------------------------------------------------------------------===//
// What rewritten kernels call
//===----------------------------------------------------------------------===//

static uint32_t thread() { return currentBlock()->threadIndex(); }
static uint32_t blockIndex() { return currentBlock()->blockIndex(); }
static void access(uint64_t address, uint64_t bytes, uint64_t alignment,
                   uint32_t isStore, uint32_t place) {
  currentBlock()->access(address, bytes, alignment, isStore != 0, place);
}
static void barrier(uint32_t place) { currentBlock()->barrier(place); }
static uint32_t shuffle(uint32_t value, uint32_t mask, uint32_t place) {
  Block *block = currentBlock();
  return block->shuffle(value, (block->threadIndex() % 32) ^ mask, place);
}

/// Float to bfloat16, to nearest even, as its bits: where the machine has no
/// instruction for it. In a vector register, as the ABI has it.
static float toBfloat(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  if (std::isnan(x))
    rounded = (bits >> 16) | 0x40;
  return std::bit_cast<float>(rounded);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

struct Program::Jit {
  std::unique_ptr<orc::LLJIT> lljit;
};

Program::Program() = default;
Program::~Program() = default;

static Error defineHelpers(orc::LLJIT &jit) {
  auto &session = jit.getExecutionSession();
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[session.intern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                     JITSymbolFlags::Exported};
  };
  add("ft_emulator_thread", &thread);
  add("ft_emulator_block", &blockIndex);
  add("ft_emulator_access", &access);
  add("ft_emulator_barrier", &barrier);
  add("ft_emulator_shuffle", &shuffle);
  add("__truncsfbf2", &toBfloat);
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

Expected<std::unique_ptr<Program>>
Program::load(StringRef bitcode,
              const std::function<void(llvm::Module &)> &change) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto context = std::make_unique<LLVMContext>();
  auto module = parseBitcodeFile(MemoryBufferRef(bitcode, "kernels"), *context);
  if (!module)
    return module.takeError();
  if (change)
    change(**module);
  auto lljit = orc::LLJITBuilder().create();
  if (!lljit)
    return lljit.takeError();
  (*module)->setTargetTriple((*lljit)->getTargetTriple());
  (*module)->setDataLayout((*lljit)->getDataLayout());
  auto notes = instrument(**module);
  if (!notes)
    return notes.takeError();

  std::unique_ptr<Program> program(new Program);
  // Sizes, while there is a module to ask.
  StringMap<size_t> bytes;
  for (GlobalVariable &variable : (*module)->globals())
    bytes[variable.getName()] =
        (*lljit)->getDataLayout().getTypeAllocSize(variable.getValueType());
  if (Error error = defineHelpers(**lljit))
    return error;
  (*lljit)->getMainJITDylib().addGenerator(
      cantFail(orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          (*lljit)->getDataLayout().getGlobalPrefix())));
  if (Error error = (*lljit)->addIRModule(
          orc::ThreadSafeModule(std::move(*module), std::move(context))))
    return error;

  program->places = std::move(notes->places);
  for (const KernelNotes &k : notes->kernels) {
    Kernel kernel;
    kernel.name = k.name;
    kernel.waits = k.waits;
    auto entry = (*lljit)->lookup(entryName(k.name));
    if (!entry)
      return entry.takeError();
    kernel.run = entry->toPtr<void (*)(void **)>();
    for (auto [names, ranges] : {std::pair{&k.shared, &kernel.shared},
                                 std::pair{&k.constants, &kernel.constants}})
      for (const std::string &name : *names) {
        auto address = (*lljit)->lookup(name);
        if (!address)
          return address.takeError();
        ranges->push_back({address->getValue(), bytes[name]});
      }
    program->kernels.push_back(std::move(kernel));
  }
  for (Kernel &kernel : program->kernels)
    kernel.places = &program->places;
  program->jit = std::make_unique<Jit>();
  program->jit->lljit = std::move(*lljit);
  return std::move(program);
}

const Kernel *Program::kernel(StringRef name) const {
  for (const Kernel &k : kernels)
    if (k.name == name)
      return &k;
  return nullptr;
}

std::string launch(const Kernel &kernel, const Memory &memory, Grid grid,
                   void **parameters) {
  return Block(kernel, memory, grid, parameters).run();
}

} // namespace ft::emulator
