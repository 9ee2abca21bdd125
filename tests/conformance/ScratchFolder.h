//===- ScratchFolder.h - A folder that goes away ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_SCRATCHFOLDER_H
#define FORETRACE_TESTS_CONFORMANCE_SCRATCHFOLDER_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <string>

namespace ft::conformance {

/// A folder for artefacts under the system's temporary one.
class ScratchFolder {
public:
  ScratchFolder() {
    llvm::sys::fs::createUniqueDirectory("ft-conformance", path);
  }
  ~ScratchFolder() { llvm::sys::fs::remove_directories(path); }
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;

  std::string file(const llvm::Twine &name) const {
    llvm::SmallString<128> result = path;
    llvm::sys::path::append(result, name);
    return result.str().str();
  }

private:
  llvm::SmallString<128> path;
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_SCRATCHFOLDER_H
