//===- Estimate.cpp - foretrace estimate -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/foretrace/CompileOptions.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include <memory>

namespace ft::cli {

namespace {
struct EstimateVerb {
  CompileOptions common;
  std::string memory;
  std::string solve;

  int run() const;
};
} // namespace

int EstimateVerb::run() const {
  return failLater("estimate",
                   "the peak of a model is known once symbolic sizes and the "
                   "partitioner are there");
}

void addEstimate(CLI::App &app, int &exitCode) {
  CLI::App *verb = app.add_subcommand(
      "estimate", "memory of a model before it runs (not in this build)");
  auto state = std::make_shared<EstimateVerb>();
  state->common.addTo(*verb, "a .pt2 archive or .mlir text");
  verb->add_option("--memory", state->memory, "80GiB");
  verb->add_option("--solve", state->solve, "the size to solve for");
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
