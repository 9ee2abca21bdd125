//===- LoadedModel.h - Calls a compiled model from C++ ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_EMIT_LOADEDMODEL_H
#define FORETRACE_COMPILER_EMIT_LOADEDMODEL_H

#include "foretrace/runtime.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace ft {

/// A failed status of a model as a diagnostic: FT0701 and FT0702 for tensors
/// and indices, FT0005, FT0006 and FT0008 for the rest.
llvm::Error toError(const ft_status &status);

/// A PATH.so that was opened and an instance of its model.
class LoadedModel {
public:
  /// Opens a library without making an instance: works for a model of another
  /// CPU, and without its weights. FT0008 if it is no compiled model.
  static llvm::Expected<std::unique_ptr<LoadedModel>>
  open(llvm::StringRef path);

  /// Makes the instance. `options` may be null.
  llvm::Error load(const ft_load_options *options = nullptr);

  LoadedModel(const LoadedModel &) = delete;
  /// Unloads the instance and closes the library.
  ~LoadedModel();

  const ft_model_info &info() const { return *api_->info; }
  /// The sizes that a run decides; models of older versions have none.
  llvm::ArrayRef<const ft_symbol_info *> symbols() const;
  const ft_api &api() const { return *api_; }
  /// Null before `load`.
  ft_model *instance() const { return model_; }

  /// See ft_api.forward. Needs `load`.
  llvm::Error forward(llvm::ArrayRef<DLTensor> inputs,
                      llvm::MutableArrayRef<DLTensor> outputs,
                      const ft_call_options *options = nullptr) const;

private:
  LoadedModel() = default;

  void *library_ = nullptr;
  const ft_api *api_ = nullptr;
  ft_model *model_ = nullptr;
};

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_LOADEDMODEL_H
