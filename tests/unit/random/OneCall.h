//===- OneCall.h - Programs of one call ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_RANDOM_ONECALL_H
#define FORETRACE_TESTS_UNIT_RANDOM_ONECALL_H

#include "compiler/fake/FakeCall.h"
#include "tests/random/Trial.h"

#include <cmath>

namespace ft::random {

inline const double kInf = HUGE_VAL, kNan = std::nan("");

inline int addInput(Program &program, const Tensor &data) {
  Value value;
  value.data = data;
  value.meta = TensorMeta::contiguous(
      data.dtype, Dims(data.shape.begin(), data.shape.end()));
  program.values.push_back(value);
  return static_cast<int>(program.values.size()) - 1;
}

inline Tensor reals(DType dtype, const Shape &shape,
                    std::initializer_list<double> values) {
  Tensor tensor(dtype, shape);
  int64_t i = 0;
  for (double value : values)
    tensor.setReal(i++, value);
  return tensor;
}

inline Tensor complexes(const Shape &shape,
                        std::initializer_list<interpreter::Complex> values) {
  Tensor tensor(DType::C128, shape);
  int64_t i = 0;
  for (interpreter::Complex value : values)
    tensor.setComplex(i++, value);
  return tensor;
}

/// The first two tensors of a call.
inline const Arg first = Arg::tensor(0), second = Arg::tensor(1);

inline Arg ints(std::initializer_list<int64_t> values) {
  std::vector<Arg> list;
  for (int64_t value : values)
    list.push_back(Arg::integer(value));
  return Arg::listOf(std::move(list));
}

/// Adds a call on values of the program: they stand for the arguments of kind
/// Tensor, in order. False where it is refused.
inline bool addCall(Program &program, llvm::StringRef name,
                    std::vector<Arg> args, llvm::ArrayRef<int> operands) {
  Step step;
  step.schema = SchemaTable::get().find(name);
  step.operands.assign(operands.begin(), operands.end());
  std::vector<Tensor> tensors;
  for (int operand : operands)
    tensors.push_back(program.values[operand].data);
  while (args.size() < step.schema->args.size())
    args.push_back(step.schema->args[args.size()].defaultValue);
  step.args = args;
  std::vector<TensorMeta> metas = program.metasOf(step), results;
  FakeCall call(*step.schema, step.args, metas);
  if (llvm::failed(propagateCall(call)))
    return false;
  for (const FakeResult &result : call.results)
    results.push_back(result.meta);
  interpreter::CallResult computed =
      interpreter::evaluate(*step.schema, step.args, tensors, results);
  for (size_t i = 0; i < results.size(); ++i) {
    Value value;
    value.meta = results[i];
    value.data = computed.results[i];
    value.step = static_cast<int>(program.steps.size());
    step.results.push_back(static_cast<int>(program.values.size()));
    program.outputs.push_back(step.results.back());
    program.values.push_back(value);
  }
  program.steps.push_back(step);
  return true;
}

/// A program of one call: its tensors stand for the arguments of kind Tensor,
/// in order.
inline Program callOf(llvm::StringRef name, std::vector<Arg> args,
                      llvm::ArrayRef<Tensor> tensors) {
  Program program;
  std::vector<int> operands;
  for (const Tensor &tensor : tensors)
    operands.push_back(addInput(program, tensor));
  addCall(program, name, std::move(args), operands);
  return program;
}

/// What is wrong with the compiled call: nothing, "refused" if its metadata
/// are, or a difference.
inline std::string failureOf(llvm::StringRef name, std::vector<Arg> args,
                             llvm::ArrayRef<Tensor> tensors) {
  Program program = callOf(name, std::move(args), tensors);
  if (program.steps.empty())
    return "refused";
  return Trial().tryOne(program);
}

/// What the interpreter and the compiled program both give.
inline std::vector<double> valuesOf(llvm::StringRef name, std::vector<Arg> args,
                                    llvm::ArrayRef<Tensor> tensors,
                                    size_t result = 0) {
  Program program = callOf(name, std::move(args), tensors);
  if (program.steps.empty() || !Trial().tryOne(program).empty())
    return {};
  const Tensor &data = program.values[program.outputs[result]].data;
  std::vector<double> values;
  for (int64_t i = 0, n = data.numel(); i < n; ++i)
    values.push_back(data.real(i));
  return values;
}

} // namespace ft::random

#endif // FORETRACE_TESTS_UNIT_RANDOM_ONECALL_H
