//===- Trial.cpp - Compiles and runs random programs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Trial.h"

#include "compiler/driver/Session.h"
#include "tests/conformance/CompiledModel.h"
#include "tests/random/Judge.h"

using namespace ft;
using namespace ft::random;
using namespace ft::conformance;

static std::string nameOf(const Program &program) {
  return "p" + std::to_string(program.seed);
}

static std::string diagnosticsOf(const Session &session) {
  std::string why;
  for (const Diagnostic &diagnostic : session.diagnostics())
    why += (why.empty() ? "" : "\n") + diagnostic.render();
  return why.empty() ? "no diagnostic" : why;
}

/// Why the program does not pass the stages before code generation.
static std::string frontEndError(const Program &program) {
  Options options;
  options.catchCrashes = true;
  Session session(options);
  GraphBuilder graph(session.context(), "random");
  program.build(graph, nameOf(program));
  return session.loadText(graph.finish(), "random") &&
                 session.runTo(Stage::Lower)
             ? ""
             : diagnosticsOf(session);
}

std::string Trial::attempt(Batch batch, std::vector<Failure> &failures) {
  Options options;
  options.catchCrashes = true;
  options.verify = false; // frontEndError does
  options.checks = checks;
  Session session(options);
  GraphBuilder graph(session.context(), "random");
  std::vector<HostTensor> inputs;
  for (const Program *program : batch) {
    program->build(graph, nameOf(*program));
    for (int i : program->inputs())
      inputs.push_back(program->values[i].data.host());
  }
  std::string base = scratch.file("random" + llvm::Twine(artefacts++));
  if (!session.loadText(graph.finish(), "random") || !session.compile(base))
    return diagnosticsOf(session);
  auto model = CompiledModel::load(session.files().library);
  if (!model)
    return llvm::toString(model.takeError());
  auto results = (*model)->forward(inputs);
  if (!results)
    return llvm::toString(results.takeError());
  size_t next = 0;
  for (const Program *program : batch) {
    Judge judge(*program);
    judge.signedZeros = signedZeros;
    for (size_t k = 0; k < program->outputs.size(); ++k)
      if (auto difference = judge.check(k, (*results)[next + k])) {
        failures.push_back({*program, static_cast<int>(k), *difference});
        break;
      }
    if (failures.empty() || failures.back().program.seed != program->seed)
      if (auto problem = judge.checkFactors(
              llvm::ArrayRef(*results).slice(next, program->outputs.size())))
        failures.push_back({*program, 0, *problem});
    next += program->outputs.size();
    elements += judge.elements;
    undecided += judge.undecided;
  }
  return "";
}

/// Errors that say what this compiler does not do, by name.
static bool isUnsupported(llvm::StringRef why) {
  return why.contains("[FT0501]") || why.contains("[FT0502]") ||
         why.contains("[FT0401]");
}

void Trial::run(Batch batch) {
  if (batch.empty())
    return;
  std::vector<Failure> failures;
  std::string why = attempt(batch, failures);
  if (why.empty()) {
    failed += failures.size();
    for (const Failure &failure : failures)
      onFailure(failure);
    return;
  }
  if (batch.size() == 1)
    return report(*batch.front(), why);
  // Most failures are of single programs before code generation, and the
  // diagnostics say which.
  std::vector<const Program *> rest;
  auto isNamed = [&](const Program *program) {
    return llvm::StringRef(why).contains(nameOf(*program) + "_");
  };
  bool someNamed = llvm::any_of(batch, isNamed);
  for (const Program *program : batch) {
    std::string error;
    if (!someNamed || isNamed(program))
      error = frontEndError(*program);
    if (error.empty())
      rest.push_back(program);
    else
      report(*program, error);
  }
  if (rest.size() < batch.size())
    return run(Batch(rest));
  run(batch.take_front(batch.size() / 2));
  run(batch.drop_front(batch.size() / 2));
}

void Trial::report(const Program &program, const std::string &why) {
  if (isUnsupported(why)) {
    ++unsupported;
    if (onUnsupported)
      onUnsupported({program, -1, why});
    return;
  }
  ++failed;
  onFailure({program, -1, why});
}

void Trial::run(llvm::ArrayRef<Program> list) {
  std::vector<const Program *> batch;
  for (const Program &program : list) {
    if (program.outputs.empty())
      continue;
    ++programs;
    for (const Step &step : program.steps)
      ++calls[step.schema->name.str()];
    batch.push_back(&program);
  }
  run(Batch(batch));
}

std::string Trial::tryOne(const Program &program) {
  std::vector<Failure> failures;
  const Program *list[] = {&program};
  std::string why = attempt(list, failures);
  if (!why.empty())
    return isUnsupported(why) ? "" : why;
  return failures.empty() ? "" : failures.front().what;
}

// Cuts the program at one value after the other, last ones first, as long as
// what is left fails still.
Failure ft::random::reduce(Trial &trial, Failure failure) {
  auto accept = [&](const Program &smaller) {
    if (smaller.steps.empty())
      return false;
    std::string what = trial.tryOne(smaller);
    if (what.empty())
      return false;
    failure.program = smaller;
    failure.output = 0;
    failure.what = what;
    return true;
  };
  // One output.
  for (int output : std::vector<int>(failure.program.outputs))
    if (accept(failure.program.prunedTo(output)))
      break;
  if (failure.program.outputs.size() != 1)
    return failure;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (int i = static_cast<int>(failure.program.values.size()); i-- > 0;) {
      const Program &program = failure.program;
      if (program.values[i].step < 0 || i == program.outputs[0])
        continue;
      Program cut = program.cutAt(i, program.outputs[0]);
      if (cut.steps.size() < program.steps.size() && accept(cut)) {
        smaller = true;
        break;
      }
    }
  }
  return failure;
}
