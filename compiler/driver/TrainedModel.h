//===- TrainedModel.h - Runs a model that is trained -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_TRAINEDMODEL_H
#define FORETRACE_COMPILER_DRIVER_TRAINEDMODEL_H

#include "compiler/driver/HostArray.h"
#include "compiler/emit/LoadedModel.h"

#include <memory>
#include <vector>

namespace ft {

/// The parameters, buffers and gradients of an instance of a model that was
/// compiled with --training: one array for each of ft_model_info.state, at the
/// start with the values of the archive. With an optimizer its state too, at
/// the start zeros.
class TrainedModel {
public:
  /// Whether the model was compiled so.
  static bool isTrained(const ft_model_info &info);

  /// Makes the arrays and loads the parameters.
  static llvm::Expected<std::unique_ptr<TrainedModel>>
  create(const LoadedModel &model);

  /// One phase (FT_TRAIN_…). `outputs` without data get memory from
  /// options.allocate. Tangents are ones. What a forward saves is kept for the
  /// backward that follows. An update takes the gradients that there are.
  llvm::Error run(int32_t phase, llvm::ArrayRef<DLTensor> inputs,
                  llvm::MutableArrayRef<DLTensor> outputs,
                  const ft_call_options &options);

  /// Parameter or buffer `index`, and its gradient; null if it has none.
  const HostArray &state(size_t index) const { return *values[index]; }
  const HostArray *gradient(size_t index) const {
    return gradients[index].get();
  }
  size_t size() const { return values.size(); }
  /// The gradient of input `index` in the last backward; null if it has none.
  const HostArray *inputGradient(size_t index) const {
    return index < inputGradients.size() ? inputGradients[index].get()
                                         : nullptr;
  }
  /// Tensor `index` of the optimizer's state.
  const HostArray &optimizer(size_t index) const {
    return *optimizerState[index];
  }
  size_t optimizerSize() const { return optimizerState.size(); }
  /// Of the updates that follow, at first the defaults.
  ft_optimizer_options hyperparameters = {};

  ~TrainedModel();

private:
  explicit TrainedModel(const LoadedModel &model) : model(model) {}

  const LoadedModel &model;
  llvm::Error makeInputGradients(llvm::ArrayRef<DLTensor> inputs);

  std::vector<std::unique_ptr<HostArray>> values, gradients, inputGradients,
      optimizerState;
  void *saved = nullptr;
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_TRAINEDMODEL_H
