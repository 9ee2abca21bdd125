//===- RandomProgram.cpp - Calls of random operators, compiled -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/unit/lower/RandomProgram.h"

#include "compiler/driver/Session.h"
#include "tests/conformance/GraphBuilder.h"
#include "tests/conformance/OpCase.h"

#include <cstring>
#include <gtest/gtest.h>
#include <regex>

using namespace ft::conformance;

namespace ft {

/// A tensor of float32 or float64, or of int64, filled with a number.
static HostTensor filled(DType dtype, llvm::ArrayRef<int64_t> shape,
                         double number) {
  HostTensor t(dtype, shape);
  auto fill = [&](auto value) {
    for (size_t at = 0; at < t.bytes.size(); at += sizeof value)
      std::memcpy(&t.bytes[at], &value, sizeof value);
  };
  if (dtype == DType::F32)
    fill(static_cast<float>(number));
  else if (dtype == DType::F64)
    fill(number);
  else
    fill(static_cast<int64_t>(number));
  return t;
}

size_t RandomProgram::call(const std::string &op, const std::string &args,
                           const std::string &kwargs, unsigned results) {
  static const std::regex pattern(R"(X (\w+) \[([\d,]*)\] ([\d.e+-]+|nan))");
  std::string text, rest = args;
  for (std::smatch m; std::regex_search(rest, m, pattern);
       rest = m.suffix().str()) {
    std::vector<int64_t> shape;
    std::stringstream sizes(m[2].str());
    for (std::string size; std::getline(sizes, size, ',');)
      shape.push_back(std::stoll(size));
    DType dtype = m[1] == "float32"   ? DType::F32
                  : m[1] == "float64" ? DType::F64
                                      : DType::I64;
    inputs.push_back(filled(dtype, shape, std::stod(m[3].str())));
    text += m.prefix().str() + R"({"v": {"dtype": ")" + m[1].str() +
            R"(", "shape": [)" + m[2].str() + R"(], "offset": 0, "nbytes": )" +
            std::to_string(inputs.back().bytes.size()) + "}}";
  }
  calls.push_back({R"({"id": )" + std::to_string(calls.size()) +
                       R"(, "op": "aten.)" + op + R"(", "args": [)" + text +
                       rest + R"(], "kwargs": {)" + kwargs + R"(}, "out": []})",
                   results});
  outputs += results;
  return outputs - results;
}

std::string RandomProgram::compile() {
  Session session(Options{});
  GraphBuilder graph(session.context(), "random");
  size_t input = 0;
  for (const Call &call : calls) {
    llvm::Expected<ValueCase> test = readValueCase(call.line);
    if (!test)
      return call.line + ": " + llvm::toString(test.takeError());
    std::string name = "call_" + std::to_string(test->id);
    llvm::SmallVector<mlir::Value> operands;
    for (const StoredTensor &t : test->tensors) {
      std::string argument = "x" + std::to_string(input++);
      operands.push_back(
          graph.addInput(argument, "input", argument,
                         TensorMeta::contiguous(
                             t.dtype, Dims(t.shape.begin(), t.shape.end()))));
    }
    mlir::Operation *op =
        graph.addCall(*test->schema, test->args, operands, call.results, name);
    for (auto [i, value] : llvm::enumerate(op->getResults()))
      graph.addOutput(value, name + "_" + std::to_string(i));
  }
  if (!session.loadText(graph.finish(), "random") ||
      !session.compile(folder.file("random"))) {
    std::string why;
    for (const Diagnostic &diagnostic : session.diagnostics())
      why += diagnostic.render() + "\n";
    return why;
  }
  library = session.files().library;
  return "";
}

RandomProgram::Instance RandomProgram::load(uint64_t seed) {
  ft_load_options options = ft_load_options_init();
  options.seed = seed;
  Instance instance;
  auto model = CompiledModel::load(library, &options);
  if (model)
    instance.model = std::move(*model);
  else
    ADD_FAILURE() << llvm::toString(model.takeError());
  instance.inputs = inputs;
  return instance;
}

RandomProgram::Tensors RandomProgram::Instance::forward(uint64_t randomCall,
                                                        int threads) {
  ft_call_options options = ft_call_options_init();
  options.random_call = randomCall;
  options.threads = threads;
  auto results = model->forward(inputs, &options);
  if (results)
    return std::move(*results);
  message = llvm::toString(results.takeError());
  return {};
}

std::vector<double> numbers(const HostTensor &tensor) {
  TensorView view = tensor.view();
  std::vector<double> all;
  for (int64_t i = 0; i < view.numel(); ++i)
    all.push_back(view.at(i).real());
  return all;
}

} // namespace ft
