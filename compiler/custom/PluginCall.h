//===- PluginCall.h - Calls of code that is not ours -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plug-in may crash, or end the process. Each call into one is noted for as
// long as it runs, so that whoever finds that it has not come back can say
// whose fault that is:
//
//   PluginCall::Running running;
//   // on the thread that may crash:
//   PluginCall::Watch watch(running);
//   …   PluginCall call(op.source, "the fake rule of demo::f");
//       fake(…);                                   // crashes
//   // where the crash is caught: running.what is "the fake rule of demo::f"
//
// A plug-in that calls exit() has not compiled anything, whatever the code that
// it gives: the process ends with the exit code of FT0010, and a sentence.

#ifndef FORETRACE_COMPILER_CUSTOM_PLUGINCALL_H
#define FORETRACE_COMPILER_CUSTOM_PLUGINCALL_H

#include "llvm/ADT/Twine.h"

#include <string>

namespace ft {

/// Notes a call into a plug-in while it lives.
class PluginCall {
public:
  struct Running {
    /// The path of the plug-in, "" for the program itself.
    std::string plugin;
    /// "the fake rule of demo::f"; empty if no call runs.
    std::string what;
  };

  /// Where the calls of this thread are noted, while it lives. `place` must
  /// outlive a crash of the thread.
  class Watch {
  public:
    explicit Watch(Running &place);
    ~Watch();
    Watch(const Watch &) = delete;
    Watch &operator=(const Watch &) = delete;

  private:
    Running *before;
  };

  PluginCall(const std::string &plugin, const llvm::Twine &what);
  ~PluginCall();
  PluginCall(const PluginCall &) = delete;
  PluginCall &operator=(const PluginCall &) = delete;

private:
  Running before;
};

} // namespace ft

#endif // FORETRACE_COMPILER_CUSTOM_PLUGINCALL_H
