//===- Reproducer.cpp - What to send after an internal error ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is kept for a reproducer while all goes well. After an internal
// error in stage N the model is read once more in a new session and taken to
// the stage before N; that module and the options are the reproducer:
//
//   foretrace compile foretrace-reproducer-1a2b3c.mlir --start-from N -o x
//
// Stages are deterministic, so the second run stands where the first one did.
//===----------------------------------------------------------------------===//

#include "compiler/driver/Pipeline.h"
#include "compiler/driver/SessionState.h"
#include "compiler/driver/Version.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace ft {

/// The module just before stage `failed`, or why there is none.
static std::string moduleBefore(const std::string &source, Options options,
                                std::optional<Stage> failed) {
  if (!failed || *failed == Stage::Import)
    return "// the model could not be read: " + source + "\n";
  options.reproducerDir.clear();
  Session again(options);
  if (!again.load(source))
    return "// the model could not be read again: " + source + "\n";
  for (Stage next = *again.stage();
       (next = stageAfter(next, *failed, options)) < *failed;)
    if (!again.runTo(next))
      return "// the stages before it fail when run again\n";
  return again.print(/*locations=*/true);
}

void Session::State::writeReproducer(std::optional<Stage> failed) {
  Diagnostic *internal = nullptr;
  for (Diagnostic &d : diagnostics)
    if (d.exitClass() == ExitClass::Internal)
      internal = &d;
  if (!internal || options.reproducerDir.empty())
    return;

  llvm::SmallString<128> pattern(options.reproducerDir), path;
  llvm::sys::path::append(pattern, "foretrace-reproducer-%%%%%%.mlir");
  int fd = -1;
  if (llvm::sys::fs::createUniqueFile(pattern, fd, path)) {
    internal->help =
        "no reproducer could be written into " + options.reproducerDir;
    return;
  }
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
  os << "// An internal error of foretrace " << foretraceVersion() << "\n"
     << "// model: " << source << "\n// target: " << options.target
     << ", cpu: " << (options.cpu.empty() ? "this machine's" : options.cpu)
     << '\n';
  if (failed)
    os << "// stage: " << stageInfo(*failed).name
       << " (continue with --start-from " << stageInfo(*failed).name << ")\n";
  os << "// " << internal->message << "\n\n"
     << moduleBefore(source, options, failed);
  internal->help =
      "this is a bug in foretrace: please report it with " + path.str().str();
}

} // namespace ft
