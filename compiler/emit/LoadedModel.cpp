//===- LoadedModel.cpp - Calls a compiled model from C++ -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/LoadedModel.h"

#include "compiler/support/Diagnostics.h"
#include "compiler/support/LibraryFile.h"

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
  case FT_ERROR_DEVICE:
    return DiagId::NoDevice;
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

llvm::Expected<std::unique_ptr<LoadedModel>>
LoadedModel::open(llvm::StringRef path) {
  // A name without '/' would be searched in the system's folders.
  std::string name = path.contains('/') ? path.str() : ("./" + path).str();
  if (llvm::Error error = checkLibraryFile(path, DiagId::LoadFailed))
    return std::move(error);
  std::unique_ptr<LoadedModel> model(new LoadedModel());
  model->library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!model->library_) {
    llvm::StringRef why = ::dlerror();
    return makeError(DiagId::LoadFailed, path, why,
                     why.contains("__asan_")
                         ? "it was compiled with --sanitize address: load it "
                           "into a program with AddressSanitizer, or preload "
                           "clang's libclang_rt.asan-x86_64.so"
                         : "");
  }
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

llvm::ArrayRef<const ft_symbol_info *> LoadedModel::symbols() const {
  if (info().abi_version < 2)
    return {};
  return {info().symbols, static_cast<size_t>(info().num_symbols)};
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
