//===- CrashGuard.h - What a crash of a running model says -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TOOLS_FORETRACE_CRASHGUARD_H
#define FORETRACE_TOOLS_FORETRACE_CRASHGUARD_H

#include "compiler/support/Diagnostic.h"
#include "compiler/support/SignalStack.h"

#include <array>
#include <csignal>
#include <string>
#include <vector>

namespace ft::cli {

/// While it lives, a signal that ends the process, on whatever thread, prints
/// `said` first, and exits with its code. A compiled model runs in the process
/// of `run` and `bench`, kernels of custom operators with it. One at a time. A
/// full stack is told of on the thread that made it only.
class CrashGuard {
public:
  explicit CrashGuard(const Diagnostic &said);
  ~CrashGuard();
  CrashGuard(const CrashGuard &) = delete;
  CrashGuard &operator=(const CrashGuard &) = delete;

private:
  static constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                          SIGABRT};
  std::string text;
  std::vector<char> spare;
  SignalStack handlers;
  std::array<struct sigaction, kSignals.size()> before;
};

} // namespace ft::cli

#endif // FORETRACE_TOOLS_FORETRACE_CRASHGUARD_H
