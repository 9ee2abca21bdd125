//===- Runner.cpp - Runs a compiled model ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Runner.h"

#include "foretrace/kernel.h"

#include "compiler/driver/HostArray.h"
#include "compiler/driver/RunSizes.h"
#include "compiler/driver/TrainedModel.h"
#include "compiler/emit/LoadedModel.h"
#include "compiler/optimizer/Optimizers.h"
#include "compiler/support/AtomicFile.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/MappedFile.h"
#include "compiler/support/Npy.h"

#include <chrono>

namespace ft {

struct Runner::State {
  std::string path;
  std::unique_ptr<LoadedModel> model;
  /// Null for a model that is not trained.
  std::unique_ptr<TrainedModel> trained;
  std::vector<std::unique_ptr<HostArray>> inputs; ///< null: not set
  std::vector<std::unique_ptr<HostArray>> outputs;
  RunSizes sizes;
  std::vector<Diagnostic> diagnostics;
  double seconds = 0;

  bool check(llvm::Error error);
  llvm::Error needModel() const;
  /// Null before a run, and for outputs that the model does not have.
  const HostArray *output(size_t index) const {
    return index < outputs.size() ? outputs[index].get() : nullptr;
  }
  llvm::Error setInput(llvm::StringRef name, llvm::StringRef npyPath);
  llvm::Error makeUpInputs();
  llvm::Error run(RunPhase phase);
  llvm::Error call(RunPhase phase, llvm::ArrayRef<DLTensor> in,
                   llvm::MutableArrayRef<DLTensor> out,
                   const ft_call_options &options);
  /// A gradient or tensor of the state, and what the model calls it.
  struct Named {
    const ft_value_info *info;
    const HostArray *array;
  };
  std::vector<Named> gradients() const;
  std::vector<Named> states() const;
  /// As of the last written(), and the copies of what the instance owns.
  std::vector<Named> written;
  std::vector<std::unique_ptr<HostArray>> copies;
  llvm::Error collectWritten();
  bool write(const HostArray *array, const std::string &npyPath,
             const llvm::Twine &missing);
  static void *allocate(void *user, int32_t index, DLDataType dtype,
                        int32_t ndim, const int64_t *shape, size_t bytes,
                        size_t alignment);
};

bool Runner::State::check(llvm::Error error) {
  if (!error)
    return true;
  for (Diagnostic &d : takeDiagnostics(std::move(error)))
    diagnostics.push_back(std::move(d));
  return false;
}

llvm::Error Runner::State::needModel() const {
  if (model)
    return llvm::Error::success();
  return makeError(DiagId::LoadFailed, path, "no model is open",
                   "call Runner::open first");
}

Runner::Runner() : state(std::make_unique<State>()) {}
Runner::~Runner() = default;

bool Runner::open(const std::string &library, int threads,
                  const std::string &name) {
  state->path = name.empty() ? library : name;
  llvm::Expected<std::unique_ptr<LoadedModel>> model =
      LoadedModel::open(library);
  if (!model)
    return state->check(model.takeError());
  ft_load_options options = ft_load_options_init();
  options.threads = threads;
  if (!state->check((*model)->load(&options)))
    return false;
  state->model = std::move(*model);
  state->sizes = RunSizes(*state->model);
  state->inputs.resize(state->model->info().num_inputs);
  state->outputs.resize(state->model->info().num_outputs);
  if (!TrainedModel::isTrained(state->model->info()))
    return true;
  llvm::Expected<std::unique_ptr<TrainedModel>> trained =
      TrainedModel::create(*state->model);
  if (!trained)
    return state->check(trained.takeError());
  state->trained = std::move(*trained);
  return true;
}

/// An array for the tensor `name`, or FT0008 when memory cannot hold it.
template <typename... Layout>
static llvm::Error makeArray(std::unique_ptr<HostArray> &into,
                             llvm::StringRef path, llvm::StringRef name,
                             Layout &&...layout) {
  into = std::make_unique<HostArray>(std::forward<Layout>(layout)...);
  if (into->valid())
    return llvm::Error::success();
  into.reset();
  return makeError(DiagId::LoadFailed, path,
                   "there is not enough memory for the tensor '" + name + "'",
                   "compile the model for smaller sizes");
}

static RunTensor describe(const ft_value_info &value) {
  std::optional<DType> dtype = dtypeFromDLPack(value.dtype);
  return {value.name, dtype ? dtypeName(*dtype).str() : "",
          std::vector<int64_t>(value.sizes, value.sizes + value.ndim)};
}

std::vector<RunTensor> Runner::inputs() const {
  std::vector<RunTensor> all;
  if (state->model)
    for (int32_t i = 0; i < state->model->info().num_inputs; ++i) {
      all.push_back(describe(*state->model->info().inputs[i]));
      if (const HostArray *array = state->inputs[i].get())
        all.back().shape.assign(array->shape.begin(), array->shape.end());
    }
  return all;
}

std::vector<RunTensor> Runner::outputs() const {
  std::vector<RunTensor> all;
  if (!state->model)
    return all;
  for (int32_t i = 0; i < state->model->info().num_outputs; ++i) {
    all.push_back(describe(*state->model->info().outputs[i]));
    if (const HostArray *array = state->outputs[i].get())
      all.back().shape.assign(array->shape.begin(), array->shape.end());
  }
  return all;
}

llvm::Error Runner::State::setInput(llvm::StringRef name,
                                    llvm::StringRef npyPath) {
  if (llvm::Error error = needModel())
    return error;
  const ft_model_info &info = model->info();
  int32_t index = 0;
  std::string names;
  for (; index < info.num_inputs && name != info.inputs[index]->name; ++index)
    names +=
        (names.empty() ? "" : ", ") + std::string(info.inputs[index]->name);
  if (index == info.num_inputs)
    return makeError(
        DiagId::BadCommandLine, path, "the model has no input '" + name + "'",
        names.empty() ? "it has no inputs" : "its inputs are " + names);
  llvm::Expected<MappedFile> file = MappedFile::open(npyPath);
  // Not the model's fault, as FT0002 would have it.
  if (!file)
    return makeError(DiagId::BadNpy, npyPath,
                     takeDiagnostics(file.takeError()).front().message,
                     "--input " + name + "= takes the path of a .npy file");
  llvm::Expected<NpyArray> array = readNpy(file->bytes(), npyPath);
  if (!array)
    return array.takeError();
  std::optional<DType> dtype = dtypeFromName(array->dtype);
  if (!dtype)
    return makeError(DiagId::BadNpy, npyPath,
                     "models have no tensors of dtype " + array->dtype);
  return makeArray(inputs[index], path, name, *dtype, array->shape,
                   array->strides, array->data);
}

bool Runner::setInput(const std::string &name, const std::string &npyPath) {
  return state->check(state->setInput(name, npyPath));
}

bool Runner::setSize(const std::string &dim, int64_t size) {
  llvm::Error error = state->needModel();
  return state->check(error ? std::move(error) : state->sizes.ask(dim, size));
}

llvm::Error Runner::State::makeUpInputs() {
  if (llvm::none_of(inputs, [](const auto &input) { return !input; }))
    return llvm::Error::success();
  llvm::Expected<std::vector<RunShape>> shapes = sizes.inputShapes(inputs);
  if (!shapes)
    return shapes.takeError();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (input)
      continue;
    const ft_value_info &value = *model->info().inputs[i];
    std::optional<DType> dtype = dtypeFromDLPack(value.dtype);
    if (!dtype)
      return makeError(DiagId::LoadFailed, path,
                       "an input has a dtype that is not known");
    if (llvm::Error error =
            makeArray(input, path, value.name, *dtype, (*shapes)[i]))
      return error;
    // Another input, other numbers: equal ones would hide swapped inputs.
    input->fillUniform(uint64_t(i) << 40);
  }
  return llvm::Error::success();
}

/// Gives outputs their arrays: of those whose sizes a call has found too.
void *Runner::State::allocate(void *user, int32_t index, DLDataType dtype,
                              int32_t ndim, const int64_t *shape, size_t,
                              size_t) {
  auto *self = static_cast<State *>(user);
  std::unique_ptr<HostArray> &array = self->outputs[index];
  std::optional<DType> known = dtypeFromDLPack(dtype);
  llvm::ArrayRef<int64_t> sizes(shape, size_t(ndim));
  if (!known)
    return nullptr;
  if (!array || array->dtype != *known ||
      llvm::ArrayRef<int64_t>(array->shape) != sizes)
    array = std::make_unique<HostArray>(*known, sizes);
  return array->valid() ? array->bytes().data() : nullptr;
}

llvm::Error Runner::State::call(RunPhase phase, llvm::ArrayRef<DLTensor> in,
                                llvm::MutableArrayRef<DLTensor> out,
                                const ft_call_options &options) {
  if (!trained)
    return model->forward(in, out, &options);
  switch (phase) {
  case RunPhase::Forward:
    return trained->run(FT_TRAIN_FORWARD, in, out, options);
  case RunPhase::Backward:
    return trained->run(FT_TRAIN_BACKWARD, in, out, options);
  case RunPhase::Update:
    return trained->run(FT_TRAIN_UPDATE, in, out, options);
  case RunPhase::Step:
    break;
  }
  return trained->run(FT_TRAIN_STEP, in, out, options);
}

llvm::Error Runner::State::run(RunPhase phase) {
  if (llvm::Error error = needModel())
    return error;
  if (llvm::Error error = makeUpInputs())
    return error;
  std::vector<DLTensor> in, out;
  for (const std::unique_ptr<HostArray> &input : inputs)
    in.push_back(input->view());
  int32_t numIn = int32_t(in.size()), numOut = int32_t(outputs.size());

  std::vector<llvm::SmallVector<int64_t, 6>> shapes(outputs.size());
  for (int32_t i = 0; i < numOut; ++i) {
    shapes[i].resize(model->info().outputs[i]->ndim);
    out.push_back(
        ft_tensor(nullptr, 0, 0, int32_t(shapes[i].size()), shapes[i].data()));
  }
  if (llvm::Error error = toError(model->api().output_shapes(
          model->instance(), in.data(), numIn, out.data(), numOut)))
    return error;
  for (int32_t i = 0; i < numOut; ++i) {
    std::optional<DType> dtype = dtypeFromDLPack(out[i].dtype);
    if (!dtype)
      return makeError(DiagId::LoadFailed, path,
                       "an output has a dtype that is not known");
    out[i].data = nullptr;
    if (llvm::any_of(shapes[i], [](int64_t size) { return size < 0; }))
      continue; // the call asks for it
    HostArray *have = outputs[i].get();
    if (!have || have->dtype != *dtype || have->shape != shapes[i])
      if (llvm::Error error =
              makeArray(outputs[i], path, model->info().outputs[i]->name,
                        *dtype, shapes[i]))
        return error;
    out[i] = outputs[i]->view();
  }
  auto start = std::chrono::steady_clock::now();
  ft_call_options options = ft_call_options_init();
  options.allocate = allocate;
  options.allocate_user = this;
  llvm::Error error = call(phase, in, out, options);
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  // Nothing was asked for where there are no elements.
  for (int32_t i = 0; i < numOut && !error; ++i)
    if (ft_kernel_numel(&out[i]) == 0 &&
        (!outputs[i] || outputs[i]->shape != shapes[i]))
      error = makeArray(outputs[i], path, model->info().outputs[i]->name,
                        *dtypeFromDLPack(out[i].dtype), shapes[i]);
  return error;
}

double Runner::lastSeconds() const { return state->seconds; }

bool Runner::run() { return run(RunPhase::Step); }

bool Runner::run(RunPhase phase) { return state->check(state->run(phase)); }

bool Runner::isTrained() const { return state->trained != nullptr; }

bool Runner::hasOptimizer() const {
  return isTrained() && state->model->info().optimizer_name;
}

bool Runner::setHyperparameter(const std::string &name, double value) {
  if (llvm::Error error = state->needModel())
    return state->check(std::move(error));
  if (!hasOptimizer())
    return state->check(makeError(DiagId::BadCommandLine, state->path,
                                  "the model was compiled without an optimizer",
                                  "compile it with --optimizer"));
  ft_optimizer_options &options = state->trained->hyperparameters;
  std::string optimizer = state->model->info().optimizer_name;
  const OptimizerInfo *info = findOptimizer(optimizer);
  std::string names;
#define FT_HYPER(field, stored)                                                \
  if (!info || readsHyperparameter(info->kind, #field)) {                      \
    if (name == #field)                                                        \
      return options.field = stored, true;                                     \
    names += (names.empty() ? "" : ", ") + std::string(#field);                \
  }
#define FT_HYPER_REAL(field) FT_HYPER(field, value)
#define FT_HYPER_FLAG(field) FT_HYPER(field, value != 0)
#include "runtime/src/hyperparameters.def"
#undef FT_HYPER
  return state->check(makeError(DiagId::BadCommandLine, state->path,
                                optimizer + " has no '" + name + "'",
                                "it has " + names));
}

bool Runner::State::write(const HostArray *array, const std::string &npyPath,
                          const llvm::Twine &missing) {
  if (!array)
    return check(makeError(DiagId::RunTensor, path, missing));
  llvm::Expected<AtomicFile> file = AtomicFile::create(npyPath);
  if (!file)
    return check(file.takeError());
  if (llvm::Error error = writeNpy(file->os(), dtypeName(array->dtype),
                                   array->shape, array->bytes(), npyPath))
    return check(std::move(error));
  return check(file->commit());
}

bool Runner::writeOutput(size_t index, const std::string &npyPath) {
  return state->write(state->output(index), npyPath,
                      "there is no output " + llvm::Twine(index) +
                          " to write: the model has " +
                          llvm::Twine(state->outputs.size()) + ", after a run");
}

const uint8_t *Runner::outputData(size_t index) const {
  const HostArray *array = state->output(index);
  return array ? array->bytes().data() : nullptr;
}

std::string Runner::elementText(size_t index, int64_t element) const {
  const HostArray *array = state->output(index);
  if (!array || element < 0 || element >= array->elements())
    return "";
  return array->elementText(element);
}

static std::string firstElements(const HostArray *array, size_t limit) {
  if (!array)
    return "";
  std::string text;
  auto shown = static_cast<int64_t>(
      std::min<uint64_t>(static_cast<uint64_t>(array->elements()), limit));
  for (int64_t i = 0; i < shown; ++i)
    text += (i ? ", " : "") + array->elementText(i);
  return shown < array->elements() ? text + ", …" : text;
}

std::string Runner::outputText(size_t index, size_t limit) const {
  return firstElements(state->output(index), limit);
}

std::vector<Runner::State::Named> Runner::State::gradients() const {
  std::vector<Named> all;
  if (!trained)
    return all;
  const ft_model_info &info = model->info();
  for (size_t i = 0; i < trained->size(); ++i)
    if (trained->gradient(i))
      all.push_back({info.state[i], trained->gradient(i)});
  for (size_t i = 0; i < size_t(info.num_inputs); ++i)
    if (info.inputs[i]->flags & FT_VALUE_GRADIENT)
      all.push_back({info.inputs[i], trained->inputGradient(i)});
  return all;
}

std::vector<Runner::State::Named> Runner::State::states() const {
  std::vector<Named> all;
  if (!trained)
    return all;
  const ft_model_info &info = model->info();
  for (size_t i = 0; i < trained->size(); ++i)
    all.push_back({info.state[i], &trained->state(i)});
  for (size_t i = 0; i < trained->optimizerSize(); ++i)
    all.push_back({info.optimizer[i], &trained->optimizer(i)});
  return all;
}

llvm::Error Runner::State::collectWritten() {
  written.clear();
  copies.clear();
  if (llvm::Error error = needModel())
    return error;
  const ft_model_info &info = model->info();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (info.inputs[i]->flags & FT_VALUE_WRITTEN)
      written.push_back({info.inputs[i], inputs[i].get()});
  for (int32_t i = 0; i < info.num_state; ++i) {
    const ft_value_info &value = *info.state[i];
    if (!(value.flags & FT_VALUE_WRITTEN))
      continue;
    if (trained) {
      written.push_back({&value, &trained->state(size_t(i))});
      continue;
    }
    std::optional<DType> dtype = dtypeFromDLPack(value.dtype);
    if (!dtype)
      return makeError(DiagId::LoadFailed, path,
                       "a buffer has a dtype that is not known");
    copies.emplace_back();
    if (llvm::Error error =
            makeArray(copies.back(), path, value.name, *dtype,
                      llvm::ArrayRef(value.sizes, size_t(value.ndim))))
      return error;
    DLTensor to = copies.back()->view();
    if (llvm::Error error =
            toError(model->api().read_state(model->instance(), i, &to)))
      return error;
    written.push_back({&value, copies.back().get()});
  }
  return llvm::Error::success();
}

template <typename Named>
static std::vector<RunTensor> describeAll(const std::vector<Named> &all) {
  std::vector<RunTensor> tensors;
  for (const Named &one : all) {
    tensors.push_back(describe(*one.info));
    if (one.array)
      tensors.back().shape.assign(one.array->shape.begin(),
                                  one.array->shape.end());
  }
  return tensors;
}

/// Null: there is none of that number.
template <typename Named>
static const HostArray *arrayOf(const std::vector<Named> &all, size_t index) {
  return index < all.size() ? all[index].array : nullptr;
}

std::vector<RunTensor> Runner::gradients() const {
  return describeAll(state->gradients());
}

std::string Runner::gradientText(size_t index, size_t limit) const {
  return firstElements(arrayOf(state->gradients(), index), limit);
}

bool Runner::writeGradient(size_t index, const std::string &npyPath) {
  return state->write(arrayOf(state->gradients(), index), npyPath,
                      "there is no gradient " + llvm::Twine(index) +
                          " to write");
}

std::vector<RunTensor> Runner::states() const {
  return describeAll(state->states());
}

std::string Runner::stateText(size_t index, size_t limit) const {
  return firstElements(arrayOf(state->states(), index), limit);
}

bool Runner::writeState(size_t index, const std::string &npyPath) {
  return state->write(arrayOf(state->states(), index), npyPath,
                      "there is no state " + llvm::Twine(index) + " to write");
}

std::vector<RunTensor> Runner::written() {
  state->check(state->collectWritten());
  return describeAll(state->written);
}

std::string Runner::writtenText(size_t index, size_t limit) const {
  return firstElements(arrayOf(state->written, index), limit);
}

bool Runner::writeWritten(size_t index, const std::string &npyPath) {
  return state->write(arrayOf(state->written, index), npyPath,
                      "nothing of number " + llvm::Twine(index) +
                          " was written");
}

const std::vector<Diagnostic> &Runner::diagnostics() const {
  return state->diagnostics;
}

int Runner::exitCode() const {
  int worst = 0;
  for (const Diagnostic &d : state->diagnostics)
    worst = std::max(worst, static_cast<int>(d.exitClass()));
  return worst;
}

} // namespace ft
