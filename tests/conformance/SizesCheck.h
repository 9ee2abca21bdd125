//===- SizesCheck.h - One artefact against many ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_SIZESCHECK_H
#define FORETRACE_TESTS_CONFORMANCE_SIZESCHECK_H

#include "tests/conformance/CompiledModel.h"
#include "tests/conformance/DataFile.h"
#include "tests/conformance/ModelCase.h"
#include "tests/conformance/Report.h"
#include "tests/conformance/ScratchFolder.h"

#include "llvm/Support/Error.h"

#include <string>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace ft::conformance {

/// Makes the sizes of an imported program constants: inputs get these shapes
/// (one for each input, in order), row-major, and nothing is left of symbols
/// and of what the archive said of values. An error if there are other inputs.
llvm::Error fixSizes(mlir::ModuleOp module,
                     llvm::ArrayRef<std::vector<int64_t>> shapes);

/// The elements of `source`, again from the start when they are used up: what
/// programs take as indices and masks they take in any number.
HostTensor repeatedTensor(const TensorView &source,
                          llvm::ArrayRef<int64_t> shape);

/// Does a model that serves all sizes compute what models of one size do?
///
/// Sizes are taken at the lower bounds of the symbols, at odd numbers and
/// primes above, and at the upper bounds (or at a large number where there is
/// none). For each, the archive is compiled once more with these sizes fixed,
/// and both artefacts run on the elements of recorded inputs, repeated. Outputs
/// and buffers must be equal as in compareTensors; a run that one of them
/// refuses the other must refuse too. Sizes that the guards of the model
/// exclude are skipped (`guard`). With `training` both are compiled for it, and
/// the gradients of one step are compared too.
class SizesCheck {
public:
  /// `label` stands in front of what is reported.
  SizesCheck(std::string label, std::string archive, const ModelRun &recorded,
             const DataFile &data, ScratchFolder &scratch, bool training,
             Report &report)
      : label(std::move(label)), archive(std::move(archive)),
        recorded(recorded), data(data), scratch(scratch), training(training),
        report(report) {}

  /// `library`: the artefact of `archive`, as it is.
  void run(const std::string &library);

private:
  void compare(const std::string &library, llvm::ArrayRef<int64_t> values,
               llvm::StringRef what);
  void compareRuns(CompiledModel &dynamic, CompiledModel &fixed,
                   llvm::MutableArrayRef<HostTensor> inputs,
                   llvm::StringRef what);
  void compareSteps(const std::string &library, const std::string &fixed,
                    llvm::ArrayRef<HostTensor> inputs, llvm::StringRef what);
  void same(const llvm::Twine &name, const HostTensor &got,
            const HostTensor &want, bool isGradient = false);
  /// Whether both ran, or neither: what there is to compare.
  template <typename T>
  bool bothRan(llvm::Expected<T> &got, llvm::Expected<T> &want,
               llvm::StringRef what);
  llvm::Expected<std::vector<HostTensor>>
  makeInputs(llvm::ArrayRef<std::vector<int64_t>> shapes);
  void fail(const llvm::Twine &what, const llvm::Twine &expected,
            const llvm::Twine &got) {
    report.fail((label + " " + what).str(), label, expected.str(), got.str());
  }

  std::string label, archive;
  const ModelRun &recorded;
  const DataFile &data;
  ScratchFolder &scratch;
  bool training;
  Report &report;
};

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_SIZESCHECK_H
