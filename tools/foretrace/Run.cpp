//===- Run.cpp - foretrace run ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/foretrace/LoadedArtefact.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <memory>
#include <set>

namespace ft::cli {

namespace {
struct RunVerb {
  CompileOptions common;
  RunInputs inputs;
  std::string output;
  bool verifyFake = false;

  int run() const;
};
} // namespace

/// "logits.npy": the name of an output as a file name, each only once.
static std::string fileName(const std::string &name,
                            std::set<std::string> &used) {
  std::string base;
  for (char c : name)
    base += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ||
                    c == '-' || c == '_'
                ? c
                : '_';
  if (base.empty() || base[0] == '.')
    base = "output" + base;
  std::string unique = base;
  for (int i = 1; !used.insert(unique).second; ++i)
    unique = base + "." + std::to_string(i);
  return unique + ".npy";
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

/// Compares the run with the annotations; says on standard error what came out.
static int verify(FakeVerifier &verifier, const Runner &runner) {
  bool good = verifier.compare(runner);
  report(verifier.diagnostics());
  llvm::errs() << "verified " << verifier.values() << " values, "
               << verifier.views() << " views through their storage";
  for (const auto &[reason, count] : verifier.skipped())
    llvm::errs() << "; " << count << " not: " << reason;
  llvm::errs() << '\n';
  return good ? 0 : static_cast<int>(ExitClass::Contradiction);
}

namespace {
/// What the verb prints, and the files that it writes.
struct Product {
  const std::string &folder; ///< empty: no files
  std::set<std::string> used;
  std::string text;

  /// Adds a tensor, called `title` in the text and as a file. False if its
  /// file could not be written.
  bool add(const RunTensor &tensor, const std::string &title,
           llvm::json::Array &array, llvm::function_ref<std::string()> elements,
           llvm::function_ref<bool(const std::string &)> write) {
    llvm::json::Object object{{"name", tensor.name},
                              {"shape", llvm::json::Array(tensor.shape)},
                              {"dtype", tensor.dtype}};
    text += title + " " + tensor.dtype + " " + shapeText(tensor.shape);
    if (folder.empty()) {
      text += " = " + elements() + '\n';
    } else {
      std::string file = fileName(title, used);
      llvm::SmallString<128> path(folder);
      llvm::sys::path::append(path, file);
      if (!write(path.str().str()))
        return false;
      text += " in " + path.str().str() + '\n';
      object["file"] = file;
    }
    array.push_back(std::move(object));
    return true;
  }
};
} // namespace

int RunVerb::run() const {
  LoadedArtefact artefact;
  FakeVerifier verifier;
  if (int code = artefact.open(common, verifyFake ? &verifier : nullptr))
    return code;
  Runner &runner = artefact.runner;
  if (int code = inputs.set(runner))
    return code;
  if (!output.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(output))
      return fail(DiagId::CannotWrite, output,
                  "the folder cannot be made: " + error.message());
  auto failed = [&] {
    report(runner.diagnostics());
    return runner.exitCode();
  };
  if (!artefact.run())
    return failed();

  std::vector<RunTensor> outputs = runner.outputs();
  int verified = verifyFake ? verify(verifier, runner) : 0;
  outputs.resize(outputs.size() - verifier.extraOutputs());
  Product product{output, {}, ""};
  llvm::json::Object object;
  using Text = std::string (Runner::*)(size_t, size_t) const;
  using Write = bool (Runner::*)(size_t, const std::string &);
  auto addAll = [&](const char *key, const std::string &prefix,
                    const std::vector<RunTensor> &all, Text text, Write write) {
    llvm::json::Array array;
    for (size_t i = 0; i < all.size(); ++i)
      if (!product.add(
              all[i], prefix + all[i].name, array,
              [&] { return (runner.*text)(i, 8); },
              [&](const std::string &path) {
                return (runner.*write)(i, path);
              }))
        return false;
    object[key] = std::move(array);
    return true;
  };
  if (!addAll("outputs", "", outputs, &Runner::outputText,
              &Runner::writeOutput))
    return failed();
  std::vector<RunTensor> written = runner.written();
  if (runner.exitCode() ||
      (!written.empty() &&
       !addAll("written", "written.", written, &Runner::writtenText,
               &Runner::writeWritten)))
    return failed();
  if (runner.isTrained() &&
      !addAll("gradients", "gradient.", runner.gradients(),
              &Runner::gradientText, &Runner::writeGradient))
    return failed();
  if (runner.hasOptimizer() && !addAll("state", "state.", runner.states(),
                                       &Runner::stateText, &Runner::writeState))
    return failed();
  int code =
      common.json ? writeJson(std::move(object)) : writeProduct(product.text);
  return code ? code : verified;
}

void addRun(CLI::App &app, int &exitCode) {
  CLI::App *verb =
      app.add_subcommand("run", "runs a model once and prints its outputs");
  auto state = std::make_shared<RunVerb>();
  addRunOptions(*verb, state->common, state->inputs);
  verb->add_option("--output", state->output,
                   "folder for a .npy file of each output");
  verb->add_flag("--verify-fake", state->verifyFake,
                 "compare each value of the run with its annotation");
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
