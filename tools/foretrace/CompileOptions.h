//===- CompileOptions.h - Options of every verb that compiles --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TOOLS_FORETRACE_COMPILEOPTIONS_H
#define FORETRACE_TOOLS_FORETRACE_COMPILEOPTIONS_H

#include "compiler/driver/Options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace ft::cli {

/// What the command line said; fill() turns it into the library's Options.
struct CompileOptions {
  std::string model;
  std::string target = "cpu";
  std::string device;
  std::string cpu;
  std::string linker;
  std::string stopAfter;
  std::string startFrom;
  std::vector<std::string> plugins;
  std::vector<std::string> dynamic;
  bool dynamicBatch = false;
  std::vector<std::string> examples;
  bool learnCustom = false;
  bool training = false;
  /// The verb looks at the partition, whether or not `training`.
  bool partitions = false;
  std::vector<std::string> loopBounds;
  std::vector<std::string> keep, recompute;
  std::string optimizer;
  std::vector<std::string> gradients;
  std::string memoryBudget;
  int threads = 0;
  bool json = false;
  bool time = false;
  bool crosscheck = false;
  CodeChecks checks;
  /// Options of the design that this build knows but does not have: what was
  /// given, by flag.
  std::map<std::string, std::string> later;

  /// Adds MODEL and the options to a verb. `modelHelp` says what MODEL may be.
  void addTo(CLI::App &verb, const std::string &modelHelp,
             bool required = true);

  /// Checks the values and fills `options`. Returns 0 or an exit code, with
  /// the message printed: 2 for a value that makes no sense, 3 for an option
  /// that this build does not have.
  int fill(Options &options) const;

  /// Checks --optimizer and --gradient alone.
  int checkOptimizer() const;

private:
  int checkPartition() const;
};

} // namespace ft::cli

#endif // FORETRACE_TOOLS_FORETRACE_COMPILEOPTIONS_H
