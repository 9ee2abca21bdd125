//===- Plugin.cpp - Loads plug-ins with custom operators -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/custom/Plugin.h"

#include "compiler/custom/PluginCall.h"
#include "compiler/custom/Registration.h"
#include "compiler/support/LibraryFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>

using namespace llvm;

namespace ft {

static Error failed(StringRef path, const Twine &why, const Twine &help = "") {
  return makeError(DiagId::PluginFailed, path, why, help);
}

Plugin::~Plugin() {
  if (handle)
    dlclose(handle);
}

/// The loader's own messages for files that are no libraries say little, and it
/// looks for bare names in the system's folders: the file itself is meant.
static Error checkFile(StringRef path, SmallVectorImpl<char> &absolute) {
  if (std::error_code code = sys::fs::real_path(path, absolute))
    return failed(path, "the plug-in cannot be opened: " + code.message(),
                  "--plugin takes the path of a shared library");
  file_magic magic;
  if (std::error_code code = identify_magic(Twine(absolute), magic))
    return failed(path, "the plug-in cannot be opened: " + code.message(),
                  "--plugin takes the path of a shared library");
  if (magic != file_magic::elf_shared_object)
    return failed(path, "the plug-in is no shared library",
                  "build it with `cc -shared -fPIC`");
  return checkLibraryFile(path, DiagId::PluginFailed);
}

namespace {
/// What an entry function's table leads to.
struct Loading {
  CustomOps &ops;
  RegistrationSource source;
  Error error = Error::success();
};
} // namespace

static Loading &loadingOf(const ft_plugin_host *host) {
  return *static_cast<Loading *>(host->context);
}

/// The first error counts.
static int32_t record(Loading &loading, Error error) {
  if (!error)
    return 0;
  if (loading.error)
    consumeError(std::move(error));
  else
    loading.error = std::move(error);
  return 1;
}

static int32_t registerOp(const ft_plugin_host *host,
                          const ft_op_registration *op) {
  Loading &loading = loadingOf(host);
  if (!op)
    return record(loading,
                  makeError(DiagId::BadRegistration, loading.source.name,
                            "register_op was given NULL"));
  return record(loading, registerCustomOp(loading.ops, *op, loading.source));
}

static int32_t giveUp(const ft_plugin_host *host, const char *message) {
  Loading &loading = loadingOf(host);
  return record(loading, failed(loading.source.name,
                                message && *message
                                    ? message
                                    : "the plug-in gave up without a reason"));
}

Expected<Plugin> Plugin::load(StringRef path, CustomOps &ops,
                              StringRef compiler, bool learn) {
  SmallString<128> absolute;
  if (Error error = checkFile(path, absolute))
    return std::move(error);
  PluginCall running(path.str(), "the plug-in");
  void *handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    StringRef text = why ? why : "no reason given";
    text.consume_front(absolute.str());
    text.consume_front(": ");
    return failed(path, "the plug-in cannot be loaded: " + text);
  }
  Plugin plugin(handle);
  auto entry =
      reinterpret_cast<ft_plugin_entry>(dlsym(handle, FT_PLUGIN_ENTRY));
  if (!entry)
    return failed(path,
                  "the library is no plug-in: it does not export '" +
                      Twine(FT_PLUGIN_ENTRY) + "'",
                  "foretrace/plugin.h shows one");

  auto lookup = [&](const char *symbol) { return dlsym(handle, symbol); };
  std::string folder = sys::path::parent_path(absolute).str();
  std::string version = compiler.str();
  Loading loading{ops, {path.str(), folder, lookup, learn}};
  ft_plugin_host host = {sizeof(ft_plugin_host),
                         FT_PLUGIN_VERSION,
                         version.c_str(),
                         folder.c_str(),
                         &loading,
                         registerOp,
                         giveUp};
  int32_t code = entry(&host);
  // What it has registered by now points into it: it stays where it is.
  if (loading.error || code)
    plugin.handle = nullptr;
  if (loading.error)
    return std::move(loading.error);
  if (code)
    return failed(path, "the plug-in gave up without a reason (code " +
                            Twine(code) + ")");
  return plugin;
}

} // namespace ft
