//===- TracedStep.h - A step of a program that was traced -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_TRACE_TRACEDSTEP_H
#define FORETRACE_TESTS_UNIT_TRACE_TRACEDSTEP_H

#include "foretrace/trace.h"

#include "compiler/driver/HostArray.h"
#include "compiler/driver/Options.h"
#include "compiler/emit/LoadedModel.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ft {

using Floats = std::vector<float>;

/// A mode, compiled for training, and the tensors of its calls, all of them
/// this object's and by their names: float32, but for integers() and outputs of
/// integers, whose elements nothing here shows. Inputs are zeros, tangents of
/// outputs ones, those of inputs zeros, until they are set. Parameters and
/// buffers start as the program has them.
class TracedStep {
public:
  /// `gradients`: inputs whose gradient is given, as Options::inputGradients.
  TracedStep(FakeMode &mode, const std::string &name,
             std::vector<std::string> gradients = {}, Options options = {});
  ~TracedStep();

  /// Why it did not compile; empty if it did.
  const std::string &refusal() const { return refused; }
  /// Forward, backward and, with an optimizer, the update. What went wrong.
  std::string run();

  Floats &input(const std::string &name) { return inputs[name]; }
  std::vector<int64_t> &integers(const std::string &name) { return ids[name]; }
  /// Another shape of an input; outputs follow.
  void resize(const std::string &name, std::vector<int64_t> shape) {
    shapes[name] = std::move(shape);
  }
  Floats &tangent(const std::string &output) { return tangents[output]; }
  Floats &inputTangent(const std::string &name) { return inputTangents[name]; }
  ft_optimizer_options &hyperparameters() { return hyper; }

  // Of the last run.
  Floats output(const std::string &name) const { return get(outputs, name); }
  Floats state(const std::string &name) const { return get(states, name); }
  /// Of a parameter or input; empty if it has none.
  Floats gradient(const std::string &name) const {
    return get(gradients, name);
  }

private:
  using Arrays = std::map<std::string, std::unique_ptr<HostArray>>;
  static Floats get(const Arrays &arrays, const std::string &name);
  std::string load();

  std::string refused;
  std::unique_ptr<LoadedModel> model;
  std::map<std::string, Floats> inputs, tangents, inputTangents;
  std::map<std::string, std::vector<int64_t>> ids, shapes;
  Arrays outputs, states, gradients, optimizer;
  ft_optimizer_options hyper = {};
};

} // namespace ft

#endif // FORETRACE_TESTS_UNIT_TRACE_TRACEDSTEP_H
