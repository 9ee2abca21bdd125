//===- Memory.h - What kernels may touch -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_EMULATOR_MEMORY_H
#define FORETRACE_TESTS_EMULATOR_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <map>

namespace ft::emulator {

/// The allocations of a device, by address. Device memory is host memory; what
/// is not allocated here is no device memory.
class Memory {
public:
  void add(const void *start, size_t bytes) {
    blocks[reinterpret_cast<uintptr_t>(start)] = bytes;
    lastStart = lastEnd = 0;
  }
  void remove(const void *start) {
    blocks.erase(reinterpret_cast<uintptr_t>(start));
    lastStart = lastEnd = 0;
  }
  bool isBlock(const void *start) const {
    return blocks.count(reinterpret_cast<uintptr_t>(start)) != 0;
  }
  /// Whether all bytes are in one allocation.
  bool holds(uintptr_t address, size_t bytes) const {
    if (address >= lastStart && address + bytes <= lastEnd)
      return true;
    auto it = blocks.upper_bound(address);
    if (it == blocks.begin())
      return false;
    --it;
    if (address + bytes > it->first + it->second)
      return false;
    lastStart = it->first;
    lastEnd = it->first + it->second;
    return true;
  }

private:
  std::map<uintptr_t, size_t> blocks;
  /// The block of the last access: the next is nearly always there too.
  mutable uintptr_t lastStart = 0, lastEnd = 0;
};

} // namespace ft::emulator

#endif // FORETRACE_TESTS_EMULATOR_MEMORY_H
