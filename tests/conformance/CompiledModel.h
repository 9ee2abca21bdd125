//===- CompiledModel.h - Calls an artefact ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_COMPILEDMODEL_H
#define FORETRACE_TESTS_CONFORMANCE_COMPILEDMODEL_H

#include "tests/conformance/HostTensor.h"

#include "llvm/Support/Error.h"

#include <foretrace/runtime.h>
#include <memory>
#include <string>
#include <vector>

namespace ft::conformance {

/// A compiled model, loaded through its C ABI as any program would.
class CompiledModel {
public:
  static llvm::Expected<std::unique_ptr<CompiledModel>>
  load(const std::string &library, const ft_load_options *options = nullptr);
  ~CompiledModel();

  /// Runs the model on row-major tensors; those that the model writes are
  /// changed. The results are row-major.
  llvm::Expected<std::vector<HostTensor>>
  forward(llvm::MutableArrayRef<HostTensor> inputs,
          const ft_call_options *options = nullptr);
  /// The shapes of the inputs when the model's symbols have these values; an
  /// error with its sentence if it allows no such sizes.
  llvm::Expected<std::vector<std::vector<int64_t>>>
  inputShapes(llvm::ArrayRef<int64_t> values);
  /// The present value of a parameter or buffer.
  llvm::Expected<HostTensor> state(llvm::StringRef name);

  const ft_model_info &info() const { return *api->info; }

private:
  CompiledModel() = default;
  void *library = nullptr;
  const ft_api *api = nullptr;
  ft_model *model = nullptr;
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_COMPILEDMODEL_H
