//===- Runner.h - Runs a compiled model ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   ft::Runner runner;
//   if (!runner.open("out/model.so") || !runner.setInput("x", "x.npy") ||
//       !runner.run() || !runner.writeOutput(0, "y.npy"))
//     … runner.diagnostics() …
//
// For tools and tests; a program that wants the model calls it through its
// header, without this library.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_DRIVER_RUNNER_H
#define FORETRACE_COMPILER_DRIVER_RUNNER_H

#include "compiler/support/Diagnostic.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ft {

/// A tensor of a model as the user sees it; sizes that are not known before a
/// run are -1.
struct RunTensor {
  std::string name;
  std::string dtype; ///< "float32"
  std::vector<int64_t> shape;
};

/// What a run of a model that was compiled with --training does; any other
/// model has Forward only.
enum class RunPhase { Forward, Backward, Update, Step };

/// One instance of a compiled model with its inputs and outputs. Functions that
/// return bool give false after an error, which diagnostics() then holds.
class FORETRACE_API Runner {
public:
  Runner();
  ~Runner();
  Runner(const Runner &) = delete;
  Runner &operator=(const Runner &) = delete;

  /// Loads PATH.so. `threads`: for each run; 0: all CPUs. FT0008 if it is no
  /// compiled model, FT0005 if it is one for another CPU. `name`: what later
  /// messages call the model, if not PATH.so.
  bool open(const std::string &library, int threads = 0,
            const std::string &name = "");

  /// With the sizes of what was set.
  std::vector<RunTensor> inputs() const;
  /// The sizes are those of the last run.
  std::vector<RunTensor> outputs() const;

  /// Takes an input from a .npy file (FT0001: no such input; FT0106: not
  /// acceptable). Whether it fits the model is seen by run (FT0701).
  bool setInput(const std::string &name, const std::string &npyPath);

  /// Asks for `size` elements in a dim of the inputs that are made up: "x:0",
  /// or the name of the size, "batch". FT0001: there is no such dim; FT0701:
  /// the model allows no such size, or another input says otherwise.
  bool setSize(const std::string &dim, int64_t size);

  /// Runs once. Inputs that were not set are made up, always the same way:
  /// floats uniform in [-1, 1), integers and bools 0. Sizes that neither an
  /// input nor setSize decides are those of the example that the model was
  /// exported with. FT0008 without a model.
  /// A model that is trained runs forward and backward, with tangents of ones,
  /// and with an optimizer an update of its parameters.
  bool run();
  /// One phase of a model that is trained. Backward takes what the forward
  /// before it has saved (FT0701: there was none).
  bool run(RunPhase phase);
  /// Whether the model was compiled with --training, and with an optimizer.
  bool isTrained() const;
  bool hasOptimizer() const;
  /// Sets a field of ft_optimizer_options for later runs (FT0001: there is
  /// none of that name).
  bool setHyperparameter(const std::string &name, double value);
  /// Seconds that the model itself took in the last run.
  double lastSeconds() const;

  // An output that is not there, or not yet: null, or an empty text.

  /// Writes an output of the last run as a row-major .npy file (FT0701: there
  /// is none).
  bool writeOutput(size_t index, const std::string &npyPath);
  /// The elements of an output of the last run, row-major; valid until the
  /// next one.
  const uint8_t *outputData(size_t index) const;
  /// Element number `element` of an output, row-major.
  std::string elementText(size_t index, int64_t element) const;
  /// The first `limit` elements of an output: "0.25, -1, 3.5, …".
  std::string outputText(size_t index, size_t limit) const;

  /// Of a model that is trained: the gradients of the last run, by the names of
  /// the parameters; then those of inputs that have one.
  std::vector<RunTensor> gradients() const;
  /// The first `limit` elements of a gradient; writes one as a .npy file.
  std::string gradientText(size_t index, size_t limit) const;
  bool writeGradient(size_t index, const std::string &npyPath);

  /// Of a model that is trained: its parameters and buffers as they are now,
  /// then the state of the optimizer.
  std::vector<RunTensor> states() const;
  std::string stateText(size_t index, size_t limit) const;
  bool writeState(size_t index, const std::string &npyPath);

  /// What the last run wrote besides its outputs: inputs, then parameters and
  /// buffers, under the model's names, as they are now. Those of a model that
  /// is not trained are read from its instance here.
  std::vector<RunTensor> written();
  std::string writtenText(size_t index, size_t limit) const;
  bool writeWritten(size_t index, const std::string &npyPath);

  const std::vector<Diagnostic> &diagnostics() const;
  int exitCode() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_RUNNER_H
