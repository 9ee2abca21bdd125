//===- FtConformance.cpp - Compares the compiler with recorded answers ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/EmulatedDevice.h"
#include "tests/conformance/MetaCommand.h"
#include "tests/conformance/ModelsCommand.h"
#include "tests/conformance/ValuesCommand.h"
#include "tools/foretrace/CodeCheckFlags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

using namespace ft::conformance;

namespace {
enum ExitCode { kPassed = 0, kFailed = 1, kUsage = 2 };
} // namespace

static int complain(const std::string &what, ExitCode code) {
  llvm::errs() << "ft-conformance: " << what << '\n';
  return code;
}

int main(int argc, char **argv) {
  CLI::App app("Compares the compiler's answers with recorded ones.");
  app.require_subcommand(1);
  app.fallthrough();
  bool summary = false;
  app.add_flag("--summary", summary,
               "also print the number of failures by operator or model");

  std::string file, op, device = "cpu";
  CLI::App *meta = app.add_subcommand(
      "meta", "metadata of single calls: FILE.jsonl or FILE.jsonl.gz");
  CLI::App *values = app.add_subcommand(
      "values", "results of single calls: FILE.jsonl with FILE.bin");
  for (CLI::App *command : {meta, values}) {
    command->add_option("file", file)->required();
    command->add_option("--op", op, "only operators that match (\"add.*\")");
  }
  bool symbolic = false;
  SymbolicOptions symbolicOptions;
  meta->add_flag("--symbolic", symbolic,
                 "the calls with symbols for the sizes of their tensors");
  meta->add_flag("--spurious", symbolicOptions.showSpurious,
                 "with --symbolic: print guards that refuse too much");
  ValuesOptions valuesOptions;
  values->add_flag("--grad", valuesOptions.grad, "also gradients");
  values->add_option("--batch", valuesOptions.batch, "calls in one artefact")
      ->capture_default_str();
  values->add_flag("--interpreter", valuesOptions.interpreter,
                   "evaluate with the reference interpreter of the tests");
  values->add_flag("--compile-times", valuesOptions.compileTimes,
                   "compile call by call, print how long that takes");
  values->add_flag("--symbolic", valuesOptions.symbolic,
                   "compile each call for all sizes");
  values->add_flag("--verify-fake", valuesOptions.verifyFake,
                   "also compare every annotation with the run");

  ModelsOptions options;
  std::vector<std::string> checks = {"meta", "values"};
  CLI::App *models =
      app.add_subcommand("models", "exported programs of a folder");
  models->add_option("folder", options.folder)->required();
  models->add_option("--only", options.only, "names of models")->delimiter(',');
  models->add_option("--variant", options.variants, "default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(
          {"static", "dynb", "dynbs", "dd", "core", "core-dyn", "train"}));
  models->add_option("--check", checks, "what is compared")
      ->delimiter(',')
      ->check(CLI::IsMember({"meta", "values", "sizes", "grads"}))
      ->capture_default_str();
  models->add_option("--loop-bound", options.loopBounds,
                     "most iterations of loops that are derived");
  models->add_option("--memory-budget", options.memoryBudget,
                     "of gradients: what is kept for the backward pass");
  for (CLI::App *command : {values, models})
    command->add_option("--device", device)
        ->check(CLI::IsMember({"cpu", "cuda-emulated"}))
        ->description("cuda-emulated: kernels for a GPU, run on the CPU")
        ->capture_default_str();
  ft::cli::addCodeChecks(*values, valuesOptions.checks);
  ft::cli::addCodeChecks(*models, options.checks);
  CLI11_PARSE(app, argc, argv);

  auto checked = [&](const char *what) {
    return std::find(checks.begin(), checks.end(), what) != checks.end();
  };
  options.emulated = valuesOptions.emulated = device != "cpu";
  if (options.emulated)
    if (llvm::Error error = loadEmulatedDevice())
      return complain(llvm::toString(std::move(error)), kUsage);
  options.meta = checked("meta");
  options.grads = checked("grads");
  options.values = checked("values") || options.grads;
  options.sizes = checked("sizes");

  Report report(llvm::outs());
  llvm::Error error =
      meta->parsed()
          ? runMeta(file, op, report, symbolic ? &symbolicOptions : nullptr)
      : values->parsed() ? runValues(file, op, valuesOptions, report)
                         : runModels(options, report);
  if (error)
    return complain(llvm::toString(std::move(error)), kUsage);
  report.finish(summary);
  return report.ok() ? kPassed : kFailed;
}
