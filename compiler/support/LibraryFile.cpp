//===- LibraryFile.cpp - Checks libraries before they are loaded *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/LibraryFile.h"

#include "compiler/support/MappedFile.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"

namespace ft {

llvm::Error checkLibraryFile(llvm::StringRef path, DiagId id) {
  using ElfFile = llvm::object::ELF64LEFile;
  auto failed = [&](const llvm::Twine &why) {
    return makeError(id, path, why);
  };
  llvm::Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return failed(takeDiagnostics(file.takeError()).front().message);
  llvm::Expected<ElfFile> elf = ElfFile::create(file->text());
  if (!elf)
    return failed(llvm::toString(elf.takeError()));
  if (!elf->getHeader().checkMagic() ||
      elf->getHeader().getFileClass() != llvm::ELF::ELFCLASS64 ||
      elf->getHeader().getDataEncoding() != llvm::ELF::ELFDATA2LSB)
    return failed("not a 64-bit ELF library");
  auto segments = elf->program_headers();
  if (!segments)
    return failed(llvm::toString(segments.takeError()));
  uint64_t size = file->bytes().size();
  for (const ElfFile::Elf_Phdr &segment : *segments)
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)
      return failed("the file is cut short");
  return llvm::Error::success();
}

} // namespace ft
