//===- MemoryWatch.cpp - Tells exhausted memory from a crash ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/MemoryWatch.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <csignal>
#include <cxxabi.h>
#include <sys/mman.h>
#include <typeinfo>

namespace ft {

static std::atomic<bool> outOfMemory;

/// Not abort(): it holds a lock that a recovery would never give back.
static void memoryFailed(void *, const char *, bool) {
  outOfMemory = true;
  ::raise(SIGABRT);
}

/// Where a std::bad_alloc ends up that nobody catches. A handler of `new` would
/// see also those that are asked for with std::nothrow and have a message.
static void terminated() {
  const std::type_info *thrown = abi::__cxa_current_exception_type();
  if (thrown && llvm::StringRef(thrown->name()) == "St9bad_alloc")
    memoryFailed(nullptr, nullptr, false);
  ::raise(SIGABRT);
}

MemoryWatch::MemoryWatch() : before(std::set_terminate(terminated)) {
  outOfMemory = false;
  llvm::install_bad_alloc_error_handler(memoryFailed);
}

MemoryWatch::~MemoryWatch() {
  llvm::remove_bad_alloc_error_handler();
  std::set_terminate(before);
}

bool MemoryWatch::ranOut() const { return outOfMemory; }

bool MemoryWatch::hasRoom(size_t bytes) {
  void *room = ::mmap(nullptr, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    return false;
  ::munmap(room, bytes);
  return true;
}

} // namespace ft
