//===- Gradients.h - Gradients of recorded calls ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names by which a joint graph's tangents and gradients are found:
//
//   inputs    call_3_arg0, call_3_arg1, tangent_call_3_out0
//   outputs   call_3_out0, gradient_call_3_arg0, …

#ifndef FORETRACE_TESTS_CONFORMANCE_GRADIENTS_H
#define FORETRACE_TESTS_CONFORMANCE_GRADIENTS_H

#include "tests/conformance/CompiledModel.h"
#include "tests/conformance/DataFile.h"
#include "tests/conformance/OpCase.h"

#include "llvm/ADT/StringMap.h"

namespace ft::conformance {

/// The call, its arguments and its results in the program of a batch.
std::string callName(const ValueCase &test);
std::string argumentName(const ValueCase &test, size_t argument);
std::string resultName(const ValueCase &test, size_t result);

/// Adds the tangents that the model takes to `inputs`, which end before the
/// first of them: the recorded ones, zeros for other results.
llvm::Error addTangents(const ft_model_info &info, const DataFile &data,
                        llvm::ArrayRef<const ValueCase *> tests,
                        std::vector<HostTensor> &inputs);

/// The gradients among the results of a run, by the name of the argument.
class GradientResults {
public:
  GradientResults(const ft_model_info &info,
                  llvm::ArrayRef<HostTensor> results);

  /// What differs from the recorded gradients; empty if nothing does. Where
  /// none has been returned, zeros were right.
  std::string differences(const ValueCase &test, const DataFile &data) const;
  /// The gradient of an argument; null if none has been returned.
  const HostTensor *of(const ValueCase &test, size_t argument) const {
    return byArgument.lookup(argumentName(test, argument));
  }

private:
  llvm::StringMap<const HostTensor *> byArgument;
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_GRADIENTS_H
