//===- MemoryWatch.h - Tells exhausted memory from a crash -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An allocation that fails ends the compiler, which is built without
// exceptions: in `new` as in LLVM's containers. That is no fault of it, and no
// reproducer helps. While a watch lives such an end is a SIGABRT, to be
// recovered from as other crashes are (llvm::CrashRecoveryContext), and
// `ranOut` says why.
//
// Handlers are those of the process: one watch at a time.

#ifndef FORETRACE_COMPILER_SUPPORT_MEMORYWATCH_H
#define FORETRACE_COMPILER_SUPPORT_MEMORYWATCH_H

#include <cstddef>
#include <exception>

namespace ft {

class MemoryWatch {
public:
  MemoryWatch();
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch &) = delete;
  MemoryWatch &operator=(const MemoryWatch &) = delete;

  /// Whether an allocation has failed since the watch was made.
  bool ranOut() const;

  /// Whether the process may have so many bytes more of address space: a thread
  /// that finds no room for its stack ends the process.
  static bool hasRoom(size_t bytes);

private:
  std::terminate_handler before;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_MEMORYWATCH_H
