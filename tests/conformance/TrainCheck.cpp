//===- TrainCheck.cpp - Gradients of whole models --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/TrainCheck.h"

#include "compiler/driver/TrainedModel.h"
#include "tests/conformance/Compare.h"

namespace ft::conformance {

static HostTensor copyOf(const HostArray &array) {
  HostTensor tensor(array.dtype, array.shape);
  auto *from = reinterpret_cast<const char *>(array.bytes().data());
  std::copy(from, from + tensor.bytes.size(), tensor.bytes.begin());
  return tensor;
}

void TrainCheck::compare(const llvm::Twine &what, const TensorView &got,
                         const StoredTensor &stored, bool isGradient) {
  llvm::Expected<TensorView> want = data.view(stored);
  if (!want)
    return fail(what, "data", llvm::toString(want.takeError()));
  Accuracy accuracy =
      isGradient ? Accuracy::ModelGradient : Accuracy::Accumulated;
  if (auto difference = compareTensors(got, *want, accuracy))
    return fail(what, "equal values", *difference);
  report.pass();
}

namespace {
/// Outputs that the model asks memory for.
struct Outputs {
  std::vector<std::unique_ptr<HostArray>> arrays;

  static void *allocate(void *user, int32_t index, DLDataType dtype,
                        int32_t ndim, const int64_t *shape, size_t, size_t) {
    auto &array = static_cast<Outputs *>(user)->arrays[index];
    std::optional<DType> known = dtypeFromDLPack(dtype);
    if (!known)
      return nullptr;
    array = std::make_unique<HostArray>(
        *known, llvm::ArrayRef<int64_t>(shape, size_t(ndim)));
    return array->valid() ? array->bytes().data() : nullptr;
  }
};
} // namespace

llvm::Expected<StepResult> runStep(const std::string &library,
                                   llvm::ArrayRef<HostTensor> given) {
  auto model = LoadedModel::open(library);
  if (!model)
    return model.takeError();
  if (llvm::Error error = (*model)->load())
    return std::move(error);
  auto trained = TrainedModel::create(**model);
  if (!trained)
    return trained.takeError();
  const ft_model_info &info = (*model)->info();

  std::vector<std::unique_ptr<HostArray>> inputs;
  std::vector<DLTensor> in, out;
  for (const HostTensor &tensor : given) {
    inputs.push_back(std::make_unique<HostArray>(tensor.dtype, tensor.shape));
    std::copy(tensor.bytes.begin(), tensor.bytes.end(),
              reinterpret_cast<char *>(inputs.back()->bytes().data()));
    in.push_back(inputs.back()->view());
  }
  Outputs outputs;
  outputs.arrays.resize(static_cast<size_t>(info.num_outputs));
  std::vector<std::vector<int64_t>> shapes;
  for (int32_t i = 0; i < info.num_outputs; ++i)
    shapes.emplace_back(info.outputs[i]->ndim);
  for (int32_t i = 0; i < info.num_outputs; ++i) {
    const ft_value_info &value = *info.outputs[i];
    out.push_back(ft_tensor(nullptr, value.dtype.code, value.dtype.bits,
                            value.ndim, shapes[i].data()));
  }
  ft_call_options options = ft_call_options_init();
  options.allocate = Outputs::allocate;
  options.allocate_user = &outputs;
  if (llvm::Error error = (*trained)->run(FT_TRAIN_STEP, in, out, options))
    return std::move(error);

  StepResult result;
  for (auto [i, array] : llvm::enumerate(outputs.arrays))
    result.outputs.push_back(
        array
            ? copyOf(*array)
            : HostTensor(
                  dtypeFromDLPack(info.outputs[i]->dtype).value_or(DType::F32),
                  shapes[i]));
  for (int32_t i = 0; i < info.num_state; ++i) {
    std::string name = info.state[i]->name;
    if (const HostArray *gradient = (*trained)->gradient(size_t(i)))
      result.gradients.emplace_back(name, copyOf(*gradient));
    result.states.emplace_back(name, copyOf((*trained)->state(size_t(i))));
  }
  return result;
}

void TrainCheck::run(const std::string &library, const ModelRun &run) {
  auto failed = [&](llvm::Error error) {
    fail("step", "values", llvm::toString(std::move(error)));
  };
  llvm::Expected<std::vector<HostTensor>> inputs = inputsOf(run, data);
  if (!inputs)
    return failed(inputs.takeError());
  llvm::Expected<StepResult> step = runStep(library, *inputs);
  if (!step)
    return failed(step.takeError());

  if (step->outputs.size() != run.outputs.size())
    fail("step", llvm::Twine(run.outputs.size()) + " outputs",
         llvm::Twine(step->outputs.size()));
  for (auto [i, want] : llvm::enumerate(run.outputs))
    if (want.tensor && i < step->outputs.size())
      compare("output " + llvm::Twine(i), step->outputs[i].view(), *want.tensor,
              false);
  for (const auto &[name, value] : step->states) {
    auto buffer = run.buffersAfter.find(name);
    if (buffer != run.buffersAfter.end())
      compare("buffer " + name, value.view(), buffer->second, false);
  }
  auto recorded = run.gradients;
  for (const auto &[name, gradient] : step->gradients) {
    auto want = recorded.find(name);
    if (want == recorded.end()) {
      fail("gradient " + name, "none", "a gradient");
      continue;
    }
    compare("gradient " + name, gradient.view(), want->second, true);
    recorded.erase(want);
  }
  for (const auto &[name, stored] : recorded)
    fail("gradient " + name, "a gradient", "none");
}

} // namespace ft::conformance
