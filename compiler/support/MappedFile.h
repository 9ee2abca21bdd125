//===- MappedFile.h - A file mapped read-only ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SUPPORT_MAPPEDFILE_H
#define FORETRACE_COMPILER_SUPPORT_MAPPEDFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace ft {

/// The bytes of a regular file, mapped read-only for the life of this object.
/// Nothing is read before it is touched, so that opening a large archive costs
/// no memory. A file that another process shortens meanwhile is not defended
/// against: that is a bus error, as with every mapped file.
class MappedFile {
public:
  /// Fails with FT0002 when `path` cannot be opened or is no regular file. An
  /// empty file gives an empty range.
  static llvm::Expected<MappedFile> open(llvm::StringRef path);

  MappedFile(MappedFile &&other);
  MappedFile &operator=(MappedFile &&other);
  ~MappedFile();

  llvm::ArrayRef<uint8_t> bytes() const { return {data, size}; }
  llvm::StringRef text() const {
    return {reinterpret_cast<const char *>(data), size};
  }
  llvm::StringRef path() const { return name; }

private:
  MappedFile() = default;

  std::string name;
  const uint8_t *data = nullptr;
  size_t size = 0;
};

} // namespace ft

#endif // FORETRACE_COMPILER_SUPPORT_MAPPEDFILE_H
