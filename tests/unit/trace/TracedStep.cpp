//===- TracedStep.cpp - A step of a program that was traced ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/trace/TracedStep.h"

#include "compiler/driver/Session.h"
#include "compiler/support/Diagnostics.h"

#include <gtest/gtest.h>

namespace ft {

static std::string messageOf(llvm::Error error) {
  std::string text;
  if (error)
    for (const Diagnostic &d : takeDiagnostics(std::move(error)))
      text += d.message;
  return text;
}

static std::string messageOf(const ft_status &status) {
  return status.code == FT_OK ? "" : status.message;
}

static std::unique_ptr<HostArray> arrayFor(const ft_value_info &value,
                                           llvm::ArrayRef<int64_t> shape) {
  return std::make_unique<HostArray>(
      dtypeFromDLPack(value.dtype).value_or(DType::F32), shape);
}

static std::unique_ptr<HostArray> arrayFor(const ft_value_info &value) {
  return arrayFor(value, {value.sizes, size_t(value.ndim)});
}

TracedStep::TracedStep(FakeMode &mode, const std::string &name,
                       std::vector<std::string> gradientsOf, Options options) {
  options.training = true;
  options.inputGradients = std::move(gradientsOf);
  Session session(options);
  if (!session.load(mode) ||
      !session.compile(testing::TempDir() + "step-" + name)) {
    for (const Diagnostic &d : session.diagnostics())
      refused += d.render();
    return;
  }
  auto opened = LoadedModel::open(session.files().library);
  if (!opened) {
    refused = messageOf(opened.takeError());
    return;
  }
  model = std::move(*opened);
  refused = messageOf(model->load());
  if (refused.empty())
    refused = load();
}

TracedStep::~TracedStep() = default;

std::string TracedStep::load() {
  const ft_model_info &info = model->info();
  for (int32_t i = 0; i < info.num_inputs; ++i) {
    const ft_value_info &value = *info.inputs[i];
    std::vector<int64_t> shape(value.sizes, value.sizes + value.ndim);
    int64_t count = 1;
    for (int64_t &size : shape)
      count *= size = std::max<int64_t>(size, 0);
    shapes[value.name] = std::move(shape);
    if (value.dtype.code == kDLFloat)
      inputs[value.name].resize(static_cast<size_t>(count));
    else
      ids[value.name].resize(static_cast<size_t>(count));
  }
  std::vector<DLTensor> tensors;
  for (int32_t i = 0; i < info.num_state; ++i) {
    const ft_value_info &value = *info.state[i];
    auto &array = states[value.name] = arrayFor(value);
    tensors.push_back(array->view());
    if (value.flags & FT_VALUE_GRADIENT)
      gradients[value.name] = arrayFor(value);
  }
  std::string wrong = messageOf(model->api().load_parameters(
      model->instance(), tensors.data(), info.num_state));
  if (!wrong.empty() || !info.optimizer_name)
    return wrong;
  hyper = *info.optimizer_defaults;
  tensors.clear();
  for (int32_t i = 0; i < info.num_optimizer; ++i) {
    auto &array = optimizer[info.optimizer[i]->name] =
        arrayFor(*info.optimizer[i]);
    tensors.push_back(array->view());
  }
  return messageOf(model->api().init_optimizer(
      model->instance(), tensors.data(), info.num_optimizer));
}

Floats TracedStep::get(const Arrays &arrays, const std::string &name) {
  auto found = arrays.find(name);
  if (found == arrays.end() || !found->second ||
      found->second->dtype != DType::F32)
    return {};
  auto *data = reinterpret_cast<const float *>(found->second->bytes().data());
  return Floats(data, data + found->second->elements());
}

std::string TracedStep::run() {
  if (!refused.empty())
    return refused;
  const ft_model_info &info = model->info();
  std::vector<DLTensor> in, out, outTangents, inTangents, inGrads, state, grads,
      optimizerState;
  auto rank = [](const std::vector<int64_t> &shape) {
    return static_cast<int32_t>(shape.size());
  };
  for (int32_t i = 0; i < info.num_inputs; ++i) {
    const ft_value_info &value = *info.inputs[i];
    const std::vector<int64_t> &shape = shapes[value.name];
    bool isFloat = value.dtype.code == kDLFloat;
    void *data = isFloat ? static_cast<void *>(inputs[value.name].data())
                         : static_cast<void *>(ids[value.name].data());
    in.push_back(ft_tensor(data, value.dtype.code, value.dtype.bits,
                           rank(shape), shape.data()));
    inTangents.push_back(in.back());
    auto given = inputTangents.find(value.name);
    inTangents.back().data =
        given == inputTangents.end() ? nullptr : given->second.data();
    inGrads.push_back({});
    if (!(value.flags & FT_VALUE_GRADIENT))
      continue;
    auto &gradient = gradients[value.name] = arrayFor(value, shape);
    inGrads.back() = gradient->view();
  }
  std::vector<std::vector<int64_t>> outShapes;
  for (int32_t i = 0; i < info.num_outputs; ++i)
    outShapes.emplace_back(static_cast<size_t>(info.outputs[i]->ndim));
  for (std::vector<int64_t> &shape : outShapes)
    out.push_back(ft_tensor(nullptr, 0, 0, rank(shape), shape.data()));
  std::string wrong = messageOf(
      model->api().output_shapes(model->instance(), in.data(), info.num_inputs,
                                 out.data(), info.num_outputs));
  if (!wrong.empty())
    return wrong;
  for (int32_t i = 0; i < info.num_outputs; ++i) {
    const ft_value_info &value = *info.outputs[i];
    auto &array = outputs[value.name] = arrayFor(value, outShapes[i]);
    out[i] = array->view();
    Floats &tangent = tangents[value.name];
    tangent.resize(static_cast<size_t>(array->elements()), 1);
    outTangents.push_back(ft_tensor(tangent.data(), kDLFloat, 32,
                                    rank(outShapes[i]), outShapes[i].data()));
  }
  for (int32_t i = 0; i < info.num_state; ++i) {
    const std::string name = info.state[i]->name;
    state.push_back(states[name]->view());
    auto gradient = gradients.find(name);
    grads.push_back(gradient == gradients.end() ? DLTensor{}
                                                : gradient->second->view());
  }
  for (int32_t i = 0; i < info.num_optimizer; ++i)
    optimizerState.push_back(optimizer[info.optimizer[i]->name]->view());
  ft_train_call call = {};
  call.struct_size = sizeof call;
  call.phase = FT_TRAIN_STEP;
  call.num_inputs = info.num_inputs;
  call.num_outputs = info.num_outputs;
  call.num_state = info.num_state;
  call.inputs = in.data();
  call.outputs = out.data();
  call.state = state.data();
  call.tangents = outTangents.data();
  call.gradients = grads.data();
  call.input_gradients = inGrads.data();
  call.input_tangents = inTangents.data();
  if (info.optimizer_name) {
    call.optimizer = optimizerState.data();
    call.optimizer_options = &hyper;
  }
  return messageOf(model->api().train(model->instance(), &call));
}

} // namespace ft
