//===- Occupancy.h - How many blocks a multiprocessor runs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CODEGEN_CUDA_OCCUPANCY_H
#define FORETRACE_COMPILER_CODEGEN_CUDA_OCCUPANCY_H

#include <cstdint>
#include <string>

namespace ft {

/// Of the blocks of kBlockThreads threads that one multiprocessor has room for,
/// how many it runs at the same time.
struct Occupancy {
  unsigned blocks = 0, most = 0;
  /// What there is too little of: "registers", "shared memory", or "threads".
  std::string limit;
  unsigned percent() const { return most ? 100 * blocks / most : 0; }
};

/// For a kernel with so many registers for each thread and bytes of shared
/// memory for each block, on a chip of compute capability `sm` (90). Limits and
/// granularity: CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability".
Occupancy occupancyOf(unsigned sm, unsigned registers, int64_t sharedBytes);

} // namespace ft

#endif // FORETRACE_COMPILER_CODEGEN_CUDA_OCCUPANCY_H
