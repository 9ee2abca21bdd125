//===- TrainCheck.h - Gradients of whole models ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_TRAINCHECK_H
#define FORETRACE_TESTS_CONFORMANCE_TRAINCHECK_H

#include "tests/conformance/DataFile.h"
#include "tests/conformance/HostTensor.h"
#include "tests/conformance/ModelCase.h"
#include "tests/conformance/Report.h"

namespace ft::conformance {

/// What one step of a model gives; names are those of parameters and buffers.
struct StepResult {
  std::vector<HostTensor> outputs;
  std::vector<std::pair<std::string, HostTensor>> states, gradients;
};

/// Forward and backward of a model that was compiled with --training, from its
/// own parameters and with tangents of ones.
llvm::Expected<StepResult> runStep(const std::string &library,
                                   llvm::ArrayRef<HostTensor> inputs);

/// Runs one step of a model that was compiled with --training on a recorded
/// case and compares its outputs, the gradient of every parameter, of which no
/// more may come than are recorded, and the buffers afterwards. Each counts as
/// one, by `label` and a name.
class TrainCheck {
public:
  TrainCheck(std::string label, const DataFile &data, Report &report)
      : label(std::move(label)), data(data), report(report) {}

  void run(const std::string &library, const ModelRun &run);

private:
  void fail(const llvm::Twine &what, const llvm::Twine &expected,
            const llvm::Twine &got) {
    report.fail((label + " " + what).str(), label, expected.str(), got.str());
  }
  void compare(const llvm::Twine &what, const TensorView &got,
               const StoredTensor &want, bool isGradient);

  std::string label;
  const DataFile &data;
  Report &report;
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_TRAINCHECK_H
