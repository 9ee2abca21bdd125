//===- PluginCall.cpp - Calls of code that is not ours ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/custom/PluginCall.h"

#include "compiler/support/Diagnostic.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace ft {

/// Trivial, so that it is still there when exit() runs its handlers.
static thread_local PluginCall::Running *place = nullptr;

/// Of exit(): a call that still runs on this thread has asked for it.
static void refuseExit() {
  if (!place || place->what.empty())
    return;
  Diagnostic said{DiagId::PluginFailed, place->plugin,
                  place->what + " ended the process with exit()", ""};
  std::fputs(said.render().c_str(), stderr);
  std::fflush(stderr);
  _exit(static_cast<int>(said.exitClass()));
}

PluginCall::Watch::Watch(Running &running)
    : before(std::exchange(place, &running)) {
  static const int kRegistered = std::atexit(refuseExit);
  (void)kRegistered;
}

PluginCall::Watch::~Watch() { place = before; }

PluginCall::PluginCall(const std::string &plugin, const llvm::Twine &what) {
  if (place)
    before = std::exchange(*place, {plugin, what.str()});
}

PluginCall::~PluginCall() {
  if (place)
    *place = std::move(before);
}

} // namespace ft
