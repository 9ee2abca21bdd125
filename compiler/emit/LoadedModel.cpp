//===- LoadedModel.cpp - Calls a compiled model from C++ -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/LoadedModel.h"

#include "compiler/support/Diagnostics.h"
#include "compiler/support/MappedFile.h"

#include "llvm/Object/ELF.h"

#include <dlfcn.h>

namespace ft {

static DiagId diagOf(int32_t code) {
  switch (code) {
  case FT_ERROR_ARGUMENT:
  case FT_ERROR_TENSOR:
  case FT_ERROR_GUARD:
    return DiagId::RunTensor;
  case FT_ERROR_INDEX:
    return DiagId::RunIndex;
  case FT_ERROR_UNSUPPORTED:
    return DiagId::NotYetSupported;
  case FT_ERROR_CPU:
    return DiagId::OtherCpu;
  case FT_ERROR_FILE:
  case FT_ERROR_MEMORY:
    return DiagId::LoadFailed;
  default:
    return DiagId::Internal;
  }
}

llvm::Error toError(const ft_status &status) {
  if (status.code == FT_OK)
    return llvm::Error::success();
  return makeError(diagOf(status.code), "", status.message);
}

/// The loader maps the segments that the head names without a look at the
/// file's size: a library that was cut short would be a bus error.
static llvm::Error checkSegments(llvm::StringRef path) {
  using ElfFile = llvm::object::ELF64LEFile;
  auto failed = [&](const llvm::Twine &why) {
    return makeError(DiagId::LoadFailed, path, why);
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

llvm::Expected<std::unique_ptr<LoadedModel>>
LoadedModel::open(llvm::StringRef path) {
  // A name without '/' would be searched in the system's folders.
  std::string name = path.contains('/') ? path.str() : ("./" + path).str();
  if (llvm::Error error = checkSegments(path))
    return std::move(error);
  std::unique_ptr<LoadedModel> model(new LoadedModel());
  model->library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!model->library_)
    return makeError(DiagId::LoadFailed, path, llvm::StringRef(::dlerror()));
  auto getter =
      reinterpret_cast<ft_api_getter>(::dlsym(model->library_, FT_API_SYMBOL));
  if (!getter)
    return makeError(DiagId::LoadFailed, path, "not a compiled model",
                     "a compiled model exports " FT_API_SYMBOL);
  model->api_ = getter();
  return model;
}

llvm::Error LoadedModel::load(const ft_load_options *options) {
  if (model_)
    api_->unload(model_);
  model_ = nullptr;
  return toError(api_->load(options, &model_));
}

LoadedModel::~LoadedModel() {
  if (model_)
    api_->unload(model_);
  if (library_)
    ::dlclose(library_);
}

llvm::Error LoadedModel::forward(llvm::ArrayRef<DLTensor> inputs,
                                 llvm::MutableArrayRef<DLTensor> outputs,
                                 const ft_call_options *options) const {
  return toError(api_->forward(
      model_, inputs.data(), static_cast<int32_t>(inputs.size()),
      outputs.data(), static_cast<int32_t>(outputs.size()), options));
}

} // namespace ft
