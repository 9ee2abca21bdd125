//===- TrainedModel.cpp - Runs a model that is trained ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/TrainedModel.h"

#include "compiler/support/Diagnostics.h"

namespace ft {

bool TrainedModel::isTrained(const ft_model_info &info) {
  auto hasGradient = [](const ft_value_info *value) {
    return value->flags & FT_VALUE_GRADIENT;
  };
  return std::any_of(info.state, info.state + info.num_state, hasGradient) ||
         std::any_of(info.inputs, info.inputs + info.num_inputs, hasGradient);
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
  if (!info.optimizer_name)
    return trained;
  trained->hyperparameters = *info.optimizer_defaults;
  tensors.clear();
  for (int32_t i = 0; i < info.num_optimizer; ++i) {
    const ft_value_info &value = *info.optimizer[i];
    std::optional<DType> dtype = dtypeFromDLPack(value.dtype);
    llvm::ArrayRef<int64_t> shape(value.sizes, size_t(value.ndim));
    if (dtype)
      trained->optimizerState.push_back(
          std::make_unique<HostArray>(*dtype, shape));
    if (!dtype || !trained->optimizerState.back()->valid())
      return makeError(DiagId::LoadFailed, info.name,
                       "there is not enough memory for '" +
                           llvm::Twine(value.name) + "'");
    tensors.push_back(trained->optimizerState.back()->view());
  }
  if (llvm::Error error = toError(model.api().init_optimizer(
          model.instance(), tensors.data(), info.num_optimizer)))
    return std::move(error);
  return trained;
}

/// They have the sizes of the inputs of this call.
llvm::Error TrainedModel::makeInputGradients(llvm::ArrayRef<DLTensor> inputs) {
  const ft_model_info &info = model.info();
  inputGradients.resize(inputs.size());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    std::unique_ptr<HostArray> &array = inputGradients[i];
    llvm::ArrayRef<int64_t> shape(input.shape, size_t(input.ndim));
    if (i >= size_t(info.num_inputs) ||
        !(info.inputs[i]->flags & FT_VALUE_GRADIENT) ||
        (array && llvm::ArrayRef<int64_t>(array->shape) == shape))
      continue;
    std::optional<DType> dtype = dtypeFromDLPack(info.inputs[i]->dtype);
    if (dtype)
      array = std::make_unique<HostArray>(*dtype, shape);
    if (!dtype || !array->valid())
      return makeError(DiagId::LoadFailed, info.name,
                       "there is not enough memory for the gradient of '" +
                           llvm::Twine(info.inputs[i]->name) + "'");
  }
  return llvm::Error::success();
}

llvm::Error TrainedModel::run(int32_t phase, llvm::ArrayRef<DLTensor> inputs,
                              llvm::MutableArrayRef<DLTensor> outputs,
                              const ft_call_options &options) {
  if (llvm::Error error = makeInputGradients(inputs))
    return error;
  std::vector<DLTensor> state, grads, inputGrads, optimizer;
  for (const std::unique_ptr<HostArray> &gradient : inputGradients)
    inputGrads.push_back(gradient ? gradient->view() : DLTensor{});
  for (const std::unique_ptr<HostArray> &array : optimizerState)
    optimizer.push_back(array->view());
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
  call.input_gradients = inputGrads.data();
  if (model.info().optimizer_name) {
    call.optimizer = optimizer.data();
    call.optimizer_options = &hyperparameters;
  }
  return toError(model.api().train(model.instance(), &call));
}

TrainedModel::~TrainedModel() { model.api().release(model.instance(), saved); }

} // namespace ft
