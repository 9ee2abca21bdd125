//===- TrainedModel.cpp - Runs a model that is trained ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/TrainedModel.h"

#include "compiler/support/Diagnostics.h"

namespace ft {

bool TrainedModel::isTrained(const ft_model_info &info) {
  for (int32_t i = 0; i < info.num_state; ++i)
    if (info.state[i]->flags & FT_VALUE_GRADIENT)
      return true;
  return false;
}

llvm::Expected<std::unique_ptr<TrainedModel>>
TrainedModel::create(const LoadedModel &model) {
  std::unique_ptr<TrainedModel> trained(new TrainedModel(model));
  const ft_model_info &info = model.info();
  std::vector<DLTensor> tensors;
  for (int32_t i = 0; i < info.num_state; ++i) {
    const ft_value_info &value = *info.state[i];
    std::optional<DType> dtype = dtypeFromDLPack(value.dtype);
    llvm::ArrayRef<int64_t> shape(value.sizes, size_t(value.ndim));
    bool hasGradient = value.flags & FT_VALUE_GRADIENT;
    if (dtype) {
      trained->values.push_back(std::make_unique<HostArray>(*dtype, shape));
      trained->gradients.push_back(
          hasGradient ? std::make_unique<HostArray>(*dtype, shape) : nullptr);
    }
    if (!dtype || !trained->values.back()->valid() ||
        (hasGradient && !trained->gradients.back()->valid()))
      return makeError(DiagId::LoadFailed, info.name,
                       "there is not enough memory for '" +
                           llvm::Twine(value.name) + "' and its gradient");
    tensors.push_back(trained->values.back()->view());
  }
  if (llvm::Error error = toError(model.api().load_parameters(
          model.instance(), tensors.data(), info.num_state)))
    return std::move(error);
  return trained;
}

llvm::Error TrainedModel::run(int32_t phase, llvm::ArrayRef<DLTensor> inputs,
                              llvm::MutableArrayRef<DLTensor> outputs,
                              const ft_call_options &options) {
  std::vector<DLTensor> state, grads;
  for (auto [value, gradient] : llvm::zip(values, gradients)) {
    state.push_back(value->view());
    grads.push_back(gradient ? gradient->view() : DLTensor{});
  }
  ft_train_call call = {};
  call.struct_size = sizeof call;
  call.phase = phase;
  call.num_inputs = static_cast<int32_t>(inputs.size());
  call.num_outputs = static_cast<int32_t>(outputs.size());
  call.num_state = static_cast<int32_t>(state.size());
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  call.state = state.data();
  call.gradients = grads.data();
  call.saved = &saved;
  call.options = &options;
  return toError(model.api().train(model.instance(), &call));
}

TrainedModel::~TrainedModel() { model.api().release(model.instance(), saved); }

} // namespace ft
