//===- SignalStack.h - Handlers that run when the stack is full -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_SIGNALSTACK_H
#define FORETRACE_COMPILER_SUPPORT_SIGNALSTACK_H

#include "llvm/ADT/ArrayRef.h"

#include <csignal>

namespace ft {

/// While it lives, handlers with SA_ONSTACK run on `memory` on this thread. A
/// stack that has overflowed has no room for a handler: without another one the
/// system ends the process, and no handler can say why.
class SignalStack {
public:
  /// What a handler may take that writes a text or jumps back.
  static constexpr size_t kBytes = 64 << 10;

  /// `memory` must outlive a handler that does not come back.
  explicit SignalStack(llvm::MutableArrayRef<char> memory) {
    stack_t own = {};
    own.ss_sp = memory.data();
    own.ss_size = memory.size();
    set = sigaltstack(&own, &before) == 0;
  }
  ~SignalStack() {
    if (set)
      sigaltstack(&before, nullptr);
  }
  SignalStack(const SignalStack &) = delete;
  SignalStack &operator=(const SignalStack &) = delete;

private:
  stack_t before = {};
  bool set;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_SIGNALSTACK_H
