//===- AtomicFile.cpp - Outputs that appear whole or not at all *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/AtomicFile.h"

#include "compiler/support/Diagnostics.h"

namespace ft {

llvm::Error AtomicFile::failure(const llvm::Twine &why) const {
  return makeError(DiagId::CannotWrite, path, "cannot write the file: " + why,
                   "check that the folder exists, is writable and has space");
}

llvm::Expected<AtomicFile> AtomicFile::create(llvm::StringRef path,
                                              unsigned mode) {
  namespace fs = llvm::sys::fs;
  AtomicFile file;
  file.path = path.str();
  fs::file_status status;
  std::error_code statusError = fs::status(path, status);
  if (!statusError && status.type() == fs::file_type::directory_file)
    return file.failure("it is a directory");
  if (!statusError && status.type() != fs::file_type::regular_file) {
    std::error_code error;
    file.stream = std::make_unique<llvm::raw_fd_ostream>(
        path, error, fs::CD_OpenExisting, fs::FA_Write, fs::OF_None);
    if (error) {
      file.stream->clear_error();
      return file.failure(error.message());
    }
    file.temporaryName = file.path;
    return file;
  }
  // open(2) applies the umask to the mode.
  llvm::Expected<fs::TempFile> temporary =
      fs::TempFile::create(path + ".tmp-%%%%%%%%", mode);
  if (!temporary)
    return file.failure(llvm::toString(temporary.takeError()));
  file.temporary.emplace(std::move(*temporary));
  file.temporaryName = file.temporary->TmpName;
  file.stream = std::make_unique<llvm::raw_fd_ostream>(file.temporary->FD,
                                                       /*shouldClose=*/false);
  return file;
}

AtomicFile::~AtomicFile() {
  if (stream) {
    stream->flush();
    // An unread error would end the process in raw_fd_ostream's destructor.
    stream->clear_error();
    stream.reset();
  }
  if (temporary)
    llvm::consumeError(temporary->discard());
}

llvm::Error AtomicFile::finish() {
  stream->flush();
  if (stream->has_error()) {
    std::string why = stream->error().message();
    stream->clear_error();
    return failure(why);
  }
  return llvm::Error::success();
}

llvm::Error AtomicFile::commit() {
  if (llvm::Error error = finish())
    return error;
  stream.reset();
  if (!temporary)
    return llvm::Error::success();
  llvm::Error kept = temporary->keep(path);
  if (kept) {
    std::string why = llvm::toString(std::move(kept));
    return failure(why);
  }
  temporary.reset();
  return llvm::Error::success();
}

} // namespace ft
