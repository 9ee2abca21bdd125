//===- CompiledModel.cpp - Calls an artefact ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/CompiledModel.h"

#include <dlfcn.h>

using namespace ft;
using namespace ft::conformance;

static llvm::Error failed(const ft_status &status) {
  return llvm::createStringError(llvm::StringRef(status.message));
}

static DLTensor describe(DType dtype, char *data, std::vector<int64_t> &shape) {
  return ft_tensor(data, static_cast<uint8_t>(dtypeDLPackCode(dtype)),
                   static_cast<uint8_t>(dtypeBytes(dtype) * 8),
                   static_cast<int32_t>(shape.size()), shape.data());
}

static llvm::Expected<DType> dtypeOf(DLDataType type) {
  for (DType candidate : {
#define FT_DTYPE(name, torchName, bytes, dlpackCode) DType::name,
#include "dialects/ft/DTypes.def"
#undef FT_DTYPE
       })
    if (dtypeDLPackCode(candidate) == type.code &&
        dtypeBytes(candidate) * 8 == type.bits)
      return candidate;
  return llvm::createStringError("a dtype that no tensor of a model has");
}

llvm::Expected<std::unique_ptr<CompiledModel>>
CompiledModel::load(const std::string &path, const ft_load_options *options) {
  std::unique_ptr<CompiledModel> result(new CompiledModel());
  result->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!result->library)
    return llvm::createStringError(llvm::StringRef(dlerror()));
  void *symbol = dlsym(result->library, FT_API_SYMBOL);
  if (!symbol)
    return llvm::createStringError(llvm::StringRef(dlerror()));
  result->api = reinterpret_cast<ft_api_getter>(symbol)();
  ft_status status = result->api->load(options, &result->model);
  if (status.code != FT_OK)
    return failed(status);
  return std::move(result);
}

CompiledModel::~CompiledModel() {
  if (api)
    api->unload(model);
  if (library)
    dlclose(library);
}

llvm::Expected<std::vector<HostTensor>>
CompiledModel::forward(llvm::MutableArrayRef<HostTensor> inputs,
                       const ft_call_options *options) {
  std::vector<DLTensor> in, out;
  for (HostTensor &input : inputs)
    in.push_back(describe(input.dtype, input.bytes.data(), input.shape));
  int32_t numIn = static_cast<int32_t>(in.size());
  int32_t numOut = info().num_outputs;
  std::vector<HostTensor> results(numOut);
  for (int32_t i = 0; i < numOut; ++i) {
    results[i].shape.resize(info().outputs[i]->ndim);
    out.push_back(describe(DType::F32, nullptr, results[i].shape));
  }
  ft_status status =
      api->output_shapes(model, in.data(), numIn, out.data(), numOut);
  if (status.code != FT_OK)
    return failed(status);
  for (int32_t i = 0; i < numOut; ++i) {
    llvm::Expected<DType> dtype = dtypeOf(out[i].dtype);
    if (!dtype)
      return dtype.takeError();
    results[i].dtype = *dtype;
    if (llvm::any_of(results[i].shape, [](int64_t n) { return n < 0; })) {
      // The call finds the sizes and asks for memory.
      out[i] = describe(*dtype, nullptr, results[i].shape);
      continue;
    }
    results[i] = HostTensor(*dtype, results[i].shape);
    out[i] = describe(*dtype, results[i].bytes.data(), results[i].shape);
  }
  ft_call_options with = options ? *options : ft_call_options_init();
  with.allocate_user = &results;
  with.allocate = [](void *user, int32_t index, DLDataType, int32_t,
                     const int64_t *, size_t bytes, size_t) -> void * {
    HostTensor &result = (*static_cast<std::vector<HostTensor> *>(user))[index];
    result.bytes.resize(bytes);
    return result.bytes.data();
  };
  status = api->forward(model, in.data(), numIn, out.data(), numOut, &with);
  if (status.code != FT_OK)
    return failed(status);
  return results;
}

llvm::Expected<std::vector<std::vector<int64_t>>>
CompiledModel::inputShapes(llvm::ArrayRef<int64_t> values) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<DLTensor> tensors;
  for (int32_t i = 0; i < info().num_inputs; ++i)
    shapes.emplace_back(info().inputs[i]->ndim);
  for (std::vector<int64_t> &shape : shapes)
    tensors.push_back(describe(DType::F32, nullptr, shape));
  ft_status status = api->input_shapes(
      model, values.data(), static_cast<int32_t>(values.size()), tensors.data(),
      static_cast<int32_t>(tensors.size()));
  if (status.code != FT_OK)
    return failed(status);
  return shapes;
}

llvm::Expected<HostTensor> CompiledModel::state(llvm::StringRef name) {
  for (int32_t i = 0; i < info().num_state; ++i) {
    const ft_value_info &value = *info().state[i];
    if (name != value.name)
      continue;
    llvm::Expected<DType> dtype = dtypeOf(value.dtype);
    if (!dtype)
      return dtype.takeError();
    HostTensor result(*dtype, llvm::ArrayRef(value.sizes, value.ndim));
    DLTensor to = describe(*dtype, result.bytes.data(), result.shape);
    ft_status status = api->read_state(model, i, &to);
    if (status.code != FT_OK)
      return failed(status);
    return result;
  }
  return llvm::createStringError("the model has no state '" + name + "'");
}
