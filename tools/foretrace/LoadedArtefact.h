//===- LoadedArtefact.h - A model to run, compiled if need be --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TOOLS_FORETRACE_LOADEDARTEFACT_H
#define FORETRACE_TOOLS_FORETRACE_LOADEDARTEFACT_H

#include "compiler/driver/FakeVerifier.h"
#include "tools/foretrace/CompileOptions.h"

#include <string>

namespace ft::cli {

/// A folder for the files of one process, removed with all that is in it at
/// the end, when the user interrupts too.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;

  /// 0, or 5 with a message.
  int create();
  const std::string &path() const { return folder; }

private:
  std::string folder;
};

/// What `run` and `bench` work on: a PATH.so as it is, anything else compiled
/// into a temporary folder first.
class LoadedArtefact {
public:
  /// Returns 0, or an exit code after the messages were printed. `verifier`,
  /// if given, is prepared with the model before that is compiled.
  int open(const CompileOptions &common, FakeVerifier *verifier = nullptr);

  /// Runner::run. A crash says whose code it may have been, and exits.
  bool run(RunPhase phase = RunPhase::Step);

  Runner runner;
  bool compiled = false;

private:
  Diagnostic crash{DiagId::Internal, "", "", ""};
  TemporaryFolder folder;
};

/// Whether the file is what `compile` writes, rather than a model to compile.
bool isSharedLibrary(const std::string &path);

/// What a model runs on, as on the command line: NAME=FILE, INPUT:DIM=SIZE, and
/// hyperparameters of its optimizer, NAME=NUMBER.
struct RunInputs {
  std::vector<std::string> files;
  std::vector<std::string> sizes;
  std::vector<std::string> hypers;

  /// Hands them to the runner; exit code as above.
  int set(Runner &runner) const;
};

/// What every verb that runs a model takes: MODEL, the options of compilation,
/// `--input`, `--size` and `--hyper`.
void addRunOptions(CLI::App &verb, CompileOptions &common, RunInputs &inputs);

} // namespace ft::cli

#endif // FORETRACE_TOOLS_FORETRACE_LOADEDARTEFACT_H
