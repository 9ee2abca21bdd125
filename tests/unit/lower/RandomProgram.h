//===- RandomProgram.h - Calls of random operators, compiled ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_LOWER_RANDOMPROGRAM_H
#define FORETRACE_TESTS_UNIT_LOWER_RANDOMPROGRAM_H

#include "tests/conformance/CompiledModel.h"
#include "tests/conformance/ScratchFolder.h"

namespace ft {

/// A program of calls, each with its results as outputs. Tensor arguments are
/// inputs, all of whose elements are one number.
class RandomProgram {
public:
  /// Adds `op` ("rand.default") with arguments in JSON, where "X f32 [2,3] 0.5"
  /// stands for a tensor; the number of its first output.
  size_t call(const std::string &op, const std::string &args,
              const std::string &kwargs = "", unsigned results = 1);
  /// Compiles; a message if that fails.
  std::string compile();

  using Tensors = std::vector<conformance::HostTensor>;
  /// An instance of the program.
  class Instance {
  public:
    Tensors forward(uint64_t randomCall = 0, int threads = 0);
    std::string message; // of a call that failed
    std::unique_ptr<conformance::CompiledModel> model;
    Tensors inputs;
  };
  Instance load(uint64_t seed = 0);

private:
  struct Call {
    std::string line;
    unsigned results;
  };
  std::vector<Call> calls;
  Tensors inputs;
  conformance::ScratchFolder folder;
  std::string library;
  size_t outputs = 0;
};

/// The elements; real parts.
std::vector<double> numbers(const conformance::HostTensor &tensor);

} // namespace ft

#endif // FORETRACE_TESTS_UNIT_LOWER_RANDOMPROGRAM_H
