//===- CrashGuard.cpp - What a crash of a running model says ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/foretrace/CrashGuard.h"

#include <unistd.h>

namespace ft::cli {

// What the handler may touch: made before, and plain memory.
static const char *message = nullptr;
static size_t messageSize = 0;
static int exitCode = 0;

static void crashed(int) {
  for (size_t at = 0; at < messageSize;) {
    ssize_t done = write(STDERR_FILENO, message + at, messageSize - at);
    if (done <= 0)
      break;
    at += static_cast<size_t>(done);
  }
  _exit(exitCode);
}

CrashGuard::CrashGuard(const Diagnostic &said)
    : text(said.render()), spare(SignalStack::kBytes), handlers(spare) {
  if (text.empty() || text.back() != '\n')
    text += '\n';
  message = text.data();
  messageSize = text.size();
  exitCode = static_cast<int>(said.exitClass());
  struct sigaction action = {};
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &action, &before[i]);
}

CrashGuard::~CrashGuard() {
  for (size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &before[i], nullptr);
}

} // namespace ft::cli
