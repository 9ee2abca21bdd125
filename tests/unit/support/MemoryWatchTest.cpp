//===- MemoryWatchTest.cpp - Exhausted memory and crashes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/MemoryWatch.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemAlloc.h"

#include <csignal>
#include <gtest/gtest.h>
#include <new>

using namespace ft;

// AddressSanitizer ends the process in an allocation that fails.
#if !LLVM_ADDRESS_SANITIZER_BUILD

/// Whether the watch says that memory is exhausted, after `work` has ended.
static bool ranOut(llvm::function_ref<void()> work) {
  llvm::CrashRecoveryContext::Enable();
  MemoryWatch watch;
  llvm::CrashRecoveryContext recovery;
  EXPECT_FALSE(recovery.RunSafelyOnThread(work, 1 << 20));
  llvm::CrashRecoveryContext::Disable();
  return watch.ranOut();
}

static volatile size_t tooMuch = size_t(1) << 46;

TEST(MemoryWatch, TellsExhaustedMemory) {
  EXPECT_TRUE(ranOut([] { ::operator delete(::operator new(tooMuch)); }));
  EXPECT_TRUE(ranOut([] { free(llvm::safe_malloc(tooMuch)); }));
  EXPECT_FALSE(ranOut([] { ::raise(SIGABRT); }));
}

TEST(MemoryWatch, LeavesThoseAloneThatAskWhether) {
  MemoryWatch watch;
  EXPECT_EQ(::operator new(tooMuch, std::nothrow), nullptr);
  EXPECT_FALSE(watch.ranOut());
}

#endif

TEST(MemoryWatch, KnowsRoom) {
  EXPECT_TRUE(MemoryWatch::hasRoom(size_t(1) << 20));
  EXPECT_FALSE(MemoryWatch::hasRoom(size_t(1) << 60));
}
