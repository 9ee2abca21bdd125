//===- Program.cpp - Kernels, loaded and run ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"

#include "Instrument.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

#include <bit>
#include <cmath>
#include <cstring>

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

namespace {
struct Shuffle {
  uint32_t value, from, result;
};

/// A matrix of 8 rows of 16 bytes has 4 rows' worth of registers: lane l gets
/// bytes 4 (l%4) of row l/4. The address of row r of matrix m is brought by
/// lane 8 m + r.
struct LoadMatrix {
  const char *row;
  uint32_t *result; ///< 4
  bool isTurned;    ///< lane l gets column l/4, rows 2 (l%4) and the next
};

enum class Element : uint32_t { Bfloat, Half, Tf32 };

/// The registers of m16n8k16, for TF32 of m16n8k8 (PTX ISA; TensorCoreTile.cpp
/// has the picture).
struct Multiply {
  const uint32_t *a, *b; ///< 4 and 2, two elements in each, of TF32 one
  float *sums;           ///< 4, in and out
  Element element;
};
} // namespace

static uint32_t shuffle(uint32_t value, uint32_t mask, uint32_t place) {
  Block *block = currentBlock();
  Shuffle mine{value, (block->threadIndex() % 32) ^ mask, 0};
  block->together(&mine, place, [](Block::Lanes lanes) {
    for (unsigned l = 0; l < 32; ++l) {
      auto *to = static_cast<Shuffle *>(lanes[l]);
      to->result = static_cast<Shuffle *>(lanes[to->from])->value;
    }
  });
  return mine.result;
}

static void copyLater(uint64_t to, uint64_t from, uint32_t bytes,
                      uint32_t given, uint32_t place) {
  currentBlock()->copyLater(to, from, bytes, given, place);
}
static void waitForCopies() { currentBlock()->waitForCopies(); }

static void loadMatrix(uint64_t row, uint32_t *result, uint32_t isTurned,
                       uint32_t place) {
  LoadMatrix mine{reinterpret_cast<const char *>(row), result, // NOLINT
                  isTurned != 0};
  currentBlock()->access(row, 16, 16, /*isStore=*/false, place);
  currentBlock()->together(&mine, place, [](Block::Lanes lanes) {
    auto of = [&](unsigned l) { return static_cast<LoadMatrix *>(lanes[l]); };
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned m = 0; m < 4; ++m) {
        auto *to = reinterpret_cast<char *>(&of(l)->result[m]); // NOLINT
        if (!of(l)->isTurned)
          std::memcpy(to, of(8 * m + l / 4)->row + l % 4 * 4, 4);
        else
          for (unsigned e = 0; e < 2; ++e)
            std::memcpy(to + 2 * e, of(8 * m + l % 4 * 2 + e)->row + l / 4 * 2,
                        2);
      }
  });
}

/// Element `i` of a register.
static double part(uint32_t bits, unsigned i, Element element) {
  // The multiplier does not look at the other bits.
  if (element == Element::Tf32)
    return std::bit_cast<float>(bits & ~0x1fffU);
  auto half = static_cast<uint16_t>(bits >> (16 * i));
  if (element == Element::Bfloat)
    return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
  int exponent = half >> 10 & 31;
  double fraction = half & 1023, sign = half >> 15 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25)
                          : std::ldexp(fraction, -24));
}

static void multiplyWarp(Block::Lanes lanes) {
  auto of = [&](unsigned l) { return static_cast<Multiply *>(lanes[l]); };
  unsigned each = of(0)->element == Element::Tf32 ? 1 : 2, half = 4 * each;
  double a[16][16], b[16][8];
  for (unsigned l = 0; l < 32; ++l) {
    const Multiply &m = *of(l);
    for (unsigned e = 0; e < each; ++e) {
      unsigned step = l % 4 * each + e;
      for (unsigned v = 0; v < 4; ++v)
        a[l / 4 + v % 2 * 8][step + v / 2 * half] = part(m.a[v], e, m.element);
      for (unsigned v = 0; v < 2; ++v)
        b[step + v * half][l / 4] = part(m.b[v], e, m.element);
    }
  }
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned v = 0; v < 4; ++v) {
      unsigned row = l / 4 + v / 2 * 8, column = l % 4 * 2 + v % 2;
      double sum = of(l)->sums[v];
      for (unsigned s = 0; s < 2 * half; ++s)
        sum += a[row][s] * b[s][column];
      of(l)->sums[v] = static_cast<float>(sum);
    }
}

static void multiply(const uint32_t *a, const uint32_t *b, float *sums,
                     uint32_t element, uint32_t place) {
  Multiply mine{a, b, sums, static_cast<Element>(element)};
  currentBlock()->together(&mine, place, &multiplyWarp);
}

/// Float to TF32, to nearest, ties away from zero.
static uint32_t roundToTf32(uint32_t bits) {
  bool isFinite = (bits & 0x7f800000) != 0x7f800000;
  return isFinite ? (bits + 0x1000) & ~0x1fffU : bits;
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
  add("ft_emulator_copy", &copyLater);
  add("ft_emulator_wait", &waitForCopies);
  add("ft_emulator_round", &roundToTf32);
  add("ft_emulator_load_matrix", &loadMatrix);
  add("ft_emulator_multiply", &multiply);
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
