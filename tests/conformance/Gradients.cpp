//===- Gradients.cpp - Gradients of recorded calls -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/Gradients.h"

#include "compiler/driver/HostArray.h"
#include "tests/conformance/Compare.h"

namespace ft::conformance {

std::string callName(const ValueCase &test) {
  return "call_" + std::to_string(test.id);
}
std::string argumentName(const ValueCase &test, size_t argument) {
  return callName(test) + "_arg" + std::to_string(argument);
}
std::string resultName(const ValueCase &test, size_t result) {
  return callName(test) + "_out" + std::to_string(result);
}

llvm::Error addTangents(const ft_model_info &info, const DataFile &data,
                        llvm::ArrayRef<const ValueCase *> tests,
                        std::vector<HostTensor> &inputs) {
  llvm::StringMap<const StoredTensor *> recorded;
  llvm::StringMap<DType> dtypes;
  for (const ValueCase *test : tests) {
    for (const auto &[result, tensor] : test->cotangents)
      recorded[resultName(*test, result)] = &tensor;
    for (auto [i, result] : llvm::enumerate(test->results))
      dtypes[resultName(*test, i)] = result.stored.dtype;
  }
  for (size_t i = inputs.size(); i < static_cast<size_t>(info.num_inputs);
       ++i) {
    const ft_value_info &input = *info.inputs[i];
    llvm::StringRef name = input.name;
    // Of what an in-place call leaves in its argument none is recorded.
    if (name.starts_with("input_tangent_")) {
      inputs.emplace_back(dtypeFromDLPack(input.dtype).value_or(DType::F32),
                          llvm::ArrayRef<int64_t>(
                              input.sizes, static_cast<size_t>(input.ndim)));
      continue;
    }
    if (!name.consume_front("tangent_"))
      return llvm::createStringError("input '" + name + "' is no tangent");
    if (auto found = recorded.find(name); found != recorded.end()) {
      llvm::Expected<HostTensor> tensor = data.copy(*found->second);
      if (!tensor)
        return tensor.takeError();
      inputs.push_back(std::move(*tensor));
      continue;
    }
    inputs.emplace_back(
        dtypes.lookup(name),
        llvm::ArrayRef<int64_t>(input.sizes, static_cast<size_t>(input.ndim)));
  }
  return llvm::Error::success();
}

GradientResults::GradientResults(const ft_model_info &info,
                                 llvm::ArrayRef<HostTensor> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    llvm::StringRef name = info.outputs[i]->name;
    if (name.consume_front("gradient_"))
      byArgument[name] = &results[i];
  }
}

static bool isZero(const TensorView &tensor) {
  for (int64_t i = 0; i < tensor.numel(); ++i)
    if (tensor.at(i) != std::complex<double>())
      return false;
  return true;
}

std::string GradientResults::differences(const ValueCase &test,
                                         const DataFile &data) const {
  // Gradients are sums, whatever the operator.
  Accuracy accuracy = accuracyOfFamily("matmul");
  for (const auto &[argument, stored] : test.gradients) {
    if (!stored)
      continue;
    std::string where = "gradient " + std::to_string(argument) + " ";
    llvm::Expected<TensorView> want = data.view(*stored);
    if (!want)
      return llvm::toString(want.takeError());
    const HostTensor *got = of(test, argument);
    if (!got) {
      if (isZero(*want))
        continue;
      return where + "is missing";
    }
    if (auto difference = compareTensors(got->view(), *want, accuracy))
      return where + *difference;
  }
  return "";
}

} // namespace ft::conformance
