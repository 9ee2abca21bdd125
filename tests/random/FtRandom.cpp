//===- FtRandom.cpp - Random programs, compiled and interpreted -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/LowerCall.h"
#include "tests/random/Judge.h"
#include "tests/random/Trial.h"
#include "tools/foretrace/CodeCheckFlags.h"

#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <map>

using namespace ft;
using namespace ft::random;

/// The program as text, and its inputs where they are small.
static void print(const Failure &failure) {
  const Program &program = failure.program;
  mlir::MLIRContext context;
  conformance::GraphBuilder graph(context, "random");
  program.build(graph, "p");
  llvm::outs() << graph.finish();
  for (int i : program.inputs()) {
    const Tensor &data = program.values[i].data;
    llvm::outs() << "// in" << i << " = [";
    for (int64_t k = 0, n = data.numel(); k < n && k < 200; ++k)
      llvm::outs() << (k ? ", " : "") << elementText(data, k);
    llvm::outs() << (data.numel() > 200 ? ", ...]\n" : "]\n");
  }
}

/// The overloads that have code but are in no program, by family.
static void printUncovered() {
  std::map<std::string, std::vector<llvm::StringRef>> families;
  size_t covered = 0, missing = 0;
  for (const Schema &schema : SchemaTable::get().all()) {
    if (schema.mutates || !findLowerRule(schema))
      continue;
    if (isDrawn(schema)) {
      ++covered;
      continue;
    }
    ++missing;
    families[schema.family.str()].push_back(schema.name);
  }
  for (const auto &[family, names] : families) {
    llvm::outs() << family << " (" << names.size() << "):";
    for (llvm::StringRef name : names)
      llvm::outs() << ' ' << name;
    llvm::outs() << '\n';
  }
  llvm::outs() << covered << " functional overloads with code are drawn, "
               << missing << " are not\n";
}

int main(int argc, char **argv) {
  CLI::App app("Compiles random programs and compares with an interpreter.");
  uint64_t seed = 1, count = 1000, batch = 200;
  unsigned most = 20;
  std::string only;
  bool signedZeros = false, noReduce = false, coverage = false,
       uncovered = false, show = false, progress = false;
  app.add_option("--seed", seed, "of the first program; the next has one more")
      ->capture_default_str();
  app.add_option("--count", count, "programs")->capture_default_str();
  app.add_option("--batch", batch, "programs in one artefact")
      ->capture_default_str();
  app.add_option("--op", only, "only operators that match (\"scatter*\")");
  app.add_option("--most", most, "stop after so many failures")
      ->capture_default_str();
  app.add_flag("--signed-zeros", signedZeros,
               "compare the signs of zeros where bits are compared");
  app.add_flag("--no-reduce", noReduce, "print failing programs as they are");
  app.add_flag("--coverage", coverage, "print how often each operator ran");
  app.add_flag("--uncovered", uncovered,
               "print what has code but is never drawn, and stop");
  app.add_flag("--progress", progress, "a line to stderr for each artefact");
  app.add_flag("--show", show, "print every program");
  Trial trial;
  ft::cli::addCodeChecks(app, trial.checks);
  CLI11_PARSE(app, argc, argv);

  if (uncovered) {
    printUncovered();
    return 0;
  }
  trial.signedZeros = signedZeros;
  unsigned failures = 0;
  trial.onFailure = [&](const Failure &failure) {
    if (++failures > most)
      return;
    llvm::outs() << "FAIL seed " << failure.program.seed << ": " << failure.what
                 << '\n';
    print(noReduce ? failure : reduce(trial, failure));
    llvm::outs().flush();
  };
  if (progress)
    trial.onUnsupported = [](const Failure &failure) {
      llvm::errs() << "no code for seed " << failure.program.seed << ": "
                   << failure.what << '\n';
    };
  llvm::outs() << "seed " << seed << ", " << count << " programs\n";
  for (uint64_t done = 0; done < count && failures < most;) {
    std::vector<Program> programs;
    for (; programs.size() < batch && done < count; ++done) {
      programs.push_back(generate(seed + done, only));
      if (show)
        print({programs.back(), -1, ""});
    }
    trial.run(programs);
    if (progress)
      llvm::errs() << seed + done << ": " << trial.failed << " failed\n";
  }
  if (coverage)
    for (const auto &[name, calls] : trial.calls)
      llvm::outs() << llvm::formatv("{0,6} {1}\n", calls, name);
  llvm::outs() << trial.programs << " programs of " << trial.calls.size()
               << " operators: " << trial.failed << " failed, "
               << trial.unsupported << " without code; " << trial.elements
               << " elements, " << trial.undecided << " undecided\n";
  return trial.failed ? 1 : 0;
}
