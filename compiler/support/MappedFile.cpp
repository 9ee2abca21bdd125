//===- MappedFile.cpp - A file mapped read-only ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/MappedFile.h"

#include "compiler/support/Diagnostics.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace ft {

static llvm::Error cannotOpen(llvm::StringRef path, const llvm::Twine &why) {
  return makeError(DiagId::CannotOpen, path, "cannot read the file: " + why);
}

static std::string reason(int code) {
  return std::generic_category().message(code);
}

llvm::Expected<MappedFile> MappedFile::open(llvm::StringRef path) {
  MappedFile file;
  file.name = path.str();
  // O_NONBLOCK: a fifo without a writer must not hang the compiler.
  int fd = ::open(file.name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return cannotOpen(path, reason(errno));
  struct stat info;
  if (::fstat(fd, &info) != 0) {
    int code = errno;
    ::close(fd);
    return cannotOpen(path, reason(code));
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return cannotOpen(path, S_ISDIR(info.st_mode) ? "it is a directory"
                                                  : "it is no regular file");
  }
  file.size = static_cast<size_t>(info.st_size);
  if (file.size) {
    void *base =
        ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, fd, /*offset=*/0);
    if (base == MAP_FAILED) {
      int code = errno;
      ::close(fd);
      file.size = 0;
      return cannotOpen(path, reason(code));
    }
    file.data = static_cast<const uint8_t *>(base);
  }
  ::close(fd);
  return file;
}

MappedFile::MappedFile(MappedFile &&other)
    : name(std::move(other.name)), data(std::exchange(other.data, nullptr)),
      size(std::exchange(other.size, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) {
  std::swap(name, other.name);
  std::swap(data, other.data);
  std::swap(size, other.size);
  return *this;
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<uint8_t *>(data), size);
}

} // namespace ft
