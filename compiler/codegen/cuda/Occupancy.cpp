//===- Occupancy.cpp - How many blocks a multiprocessor runs --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/codegen/cuda/Occupancy.h"

#include "compiler/codegen/cuda/DeviceKernel.h"

#include "llvm/Support/MathExtras.h"

namespace ft {

namespace {
struct ChipLimits {
  unsigned sm;
  unsigned threads, blocks; ///< of a multiprocessor
  unsigned sharedKiB;
};
} // namespace

static constexpr ChipLimits kLimits[] = {
    {80, 2048, 32, 164}, {86, 1536, 16, 100}, {87, 1536, 16, 164},
    {89, 1536, 24, 100}, {90, 2048, 32, 228}, {100, 2048, 32, 228},
    {120, 1536, 24, 100}};

// The same for all of them.
static constexpr unsigned kRegisters = 1u << 16;
static constexpr unsigned kRegisterUnit = 256; ///< handed out to a warp
static constexpr int64_t kSharedUnit = 128, kSharedReserved = 1024;

Occupancy occupancyOf(unsigned sm, unsigned registers, int64_t sharedBytes) {
  const ChipLimits *chip = &kLimits[0];
  for (const ChipLimits &row : kLimits)
    if (row.sm <= sm)
      chip = &row;
  Occupancy o;
  o.most = std::min<unsigned>(chip->threads / kBlockThreads, chip->blocks);
  o.blocks = o.most;
  o.limit = "threads";
  auto limit = [&](int64_t blocks, const char *what) {
    if (blocks >= o.blocks)
      return;
    o.blocks = static_cast<unsigned>(blocks);
    o.limit = what;
  };
  auto ofWarp = llvm::alignTo(registers * kWarpThreads, kRegisterUnit);
  if (registers)
    limit(kRegisters / ofWarp / (kBlockThreads / kWarpThreads), "registers");
  auto ofBlock = static_cast<int64_t>(llvm::alignTo(
      static_cast<uint64_t>(sharedBytes + kSharedReserved), kSharedUnit));
  limit(chip->sharedKiB * int64_t(1024) / ofBlock, "shared memory");
  return o;
}

} // namespace ft
