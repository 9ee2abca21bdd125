//===- Plugin.h - Loads plug-ins with custom operators ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_CUSTOM_PLUGIN_H
#define FORETRACE_COMPILER_CUSTOM_PLUGIN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ft {

class CustomOps;

/// A plug-in library in memory (foretrace/plugin.h). What it registered points
/// into it: it has to live longer than the context.
class Plugin {
public:
  Plugin(Plugin &&other) noexcept : handle(other.handle) {
    other.handle = nullptr;
  }
  Plugin(const Plugin &) = delete;
  Plugin &operator=(const Plugin &) = delete;
  ~Plugin();

  /// Loads the library at `path` and lets it register its operators. `learn`:
  /// see RegistrationSource. `compiler`: "foretrace 0.1.0", for the plug-in.
  ///
  /// Errors: FT0009 for a file that is not there, is no shared library of this
  /// machine, cannot be loaded, has no entry function, is of another version,
  /// or gives up; FT0010 for an operator that cannot be registered.
  static llvm::Expected<Plugin> load(llvm::StringRef path, CustomOps &ops,
                                     llvm::StringRef compiler, bool learn);

private:
  explicit Plugin(void *handle) : handle(handle) {}
  void *handle = nullptr;
};

} // namespace ft

#endif // FORETRACE_COMPILER_CUSTOM_PLUGIN_H
