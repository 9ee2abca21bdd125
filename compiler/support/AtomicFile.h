//===- AtomicFile.h - Outputs that appear whole or not at all --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_ATOMICFILE_H
#define FORETRACE_COMPILER_SUPPORT_ATOMICFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace ft {

/// An output file under construction: written beside its target under a
/// temporary name and renamed by commit(). Without commit, and when a signal
/// ends the process, the temporary file is removed and the target is as it
/// was. A target that exists and is no regular file (a terminal, /dev/null) is
/// written directly.
///
///   auto file = AtomicFile::create("model.h");      // FT0003 on failure
///   file->os() << "…";
///   if (llvm::Error error = file->commit()) …       // FT0003: disk full
///
/// Several outputs that belong together: finish() each, then commit() each;
/// after a successful finish only the rename is left.
class AtomicFile {
public:
  /// `mode`: permission bits before the umask (0777 for a library or program).
  static llvm::Expected<AtomicFile> create(llvm::StringRef path,
                                           unsigned mode = 0666);
  AtomicFile(AtomicFile &&other) = default;
  AtomicFile &operator=(AtomicFile &&other) = delete;
  ~AtomicFile();

  llvm::raw_fd_ostream &os() { return *stream; }
  /// The name under which the bytes lie until commit.
  llvm::StringRef temporaryPath() const { return temporaryName; }

  /// Flushes and reports what went wrong while writing.
  llvm::Error finish();
  /// finish, then rename.
  llvm::Error commit();

private:
  AtomicFile() = default;
  llvm::Error failure(const llvm::Twine &why) const;

  std::string path;
  std::string temporaryName;
  std::optional<llvm::sys::fs::TempFile> temporary;
  std::unique_ptr<llvm::raw_fd_ostream> stream;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_ATOMICFILE_H
