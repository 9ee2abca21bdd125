//===- KernelFiles.cpp - The code of custom operators ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/KernelFiles.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"

using namespace llvm;

namespace ft {

static Error bad(StringRef path, const Twine &why) {
  return makeError(DiagId::BadKernelFile, path, why,
                   "compile it with `cc -c -fPIC`, for x86-64");
}

/// Adds the names that an object defines for others.
static Error collect(StringRef path, MemoryBufferRef bytes,
                     StringSet<> &defined) {
  auto file = object::ObjectFile::createELFObjectFile(bytes);
  if (!file)
    return bad(path,
               "the file is no ELF object: " + toString(file.takeError()));
  auto *object = dyn_cast<object::ELF64LEObjectFile>(file->get());
  if (!object || !object->isRelocatableObject() ||
      object->getArch() != Triple::x86_64)
    return bad(path, "the file is no relocatable x86-64 object");
  for (const object::ELFSymbolRef symbol : object->symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint32_t> flags = symbol.getFlags();
    if (!name || !flags) {
      consumeError(name.takeError());
      consumeError(flags.takeError());
      return bad(path, "the symbol table is damaged");
    }
    if (!(*flags & object::SymbolRef::SF_Undefined) &&
        (*flags & object::SymbolRef::SF_Global))
      defined.insert(*name);
  }
  return Error::success();
}

static Error collectArchive(StringRef path, MemoryBufferRef bytes,
                            StringSet<> &defined) {
  Expected<std::unique_ptr<object::Archive>> archive =
      object::Archive::create(bytes);
  if (!archive)
    return bad(path,
               "the archive is damaged: " + toString(archive.takeError()));
  if ((*archive)->isThin())
    return bad(path, "the archive is thin: it holds no code itself");
  Error error = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(error)) {
    Expected<MemoryBufferRef> member = child.getMemoryBufferRef();
    if (!member) {
      consumeError(std::move(error));
      return bad(path,
                 "the archive is damaged: " + toString(member.takeError()));
    }
    if (Error wrong = collect(path, *member, defined)) {
      consumeError(std::move(error));
      return wrong;
    }
  }
  if (error)
    return bad(path, "the archive is damaged: " + toString(std::move(error)));
  return Error::success();
}

Expected<KernelFiles> KernelFiles::read(ArrayRef<KernelSource> kernels) {
  KernelFiles result;
  StringMap<StringSet<>> definedBy;
  for (const KernelSource &kernel : kernels) {
    bool found = false;
    for (const std::string &path : kernel.files) {
      auto [entry, isNew] = definedBy.try_emplace(path);
      StringSet<> &defined = entry->second;
      if (isNew) {
        auto bytes = MemoryBuffer::getFile(path);
        if (!bytes)
          return makeError(DiagId::CannotOpen, path,
                           "cannot read the kernel of '" + kernel.op +
                               "': " + bytes.getError().message());
        bool archive =
            identify_magic((*bytes)->getBuffer()) == file_magic::archive;
        MemoryBufferRef ref = (*bytes)->getMemBufferRef();
        if (Error error = archive ? collectArchive(path, ref, defined)
                                  : collect(path, ref, defined))
          return std::move(error);
        result.files.push_back({path, std::move(*bytes)});
      }
      found |= defined.contains(kernel.symbol);
    }
    if (!found)
      return bad(kernel.files.empty() ? "" : kernel.files.front(),
                 "the kernel '" + kernel.symbol + "' of '" + kernel.op +
                     "' is not defined there");
  }
  return result;
}

} // namespace ft
