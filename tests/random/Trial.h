//===- Trial.h - Compiles and runs random programs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_RANDOM_TRIAL_H
#define FORETRACE_TESTS_RANDOM_TRIAL_H

#include "compiler/support/CodeChecks.h"
#include "tests/conformance/ScratchFolder.h"
#include "tests/random/Program.h"

#include <functional>
#include <map>

namespace ft::random {

/// One thing that went wrong.
struct Failure {
  Program program;
  /// Index into the outputs; -1 if the program did not compile or run.
  int output = -1;
  std::string what;
};

class Trial {
public:
  /// Compile with guarded loads and stores.
  CodeChecks checks;
  /// Compare the signs of zeros, see Judge.
  bool signedZeros = false;
  /// Called for each failure.
  std::function<void(const Failure &)> onFailure;
  /// Called for each program that has no code.
  std::function<void(const Failure &)> onUnsupported;

  /// Compiles the programs into one artefact, runs and judges each. Where that
  /// fails, programs that the diagnostics name are taken out, or halves tried.
  void run(llvm::ArrayRef<Program> programs);
  /// What is wrong with one program; empty if nothing is, or if it is not
  /// supported.
  std::string tryOne(const Program &program);

  int64_t programs = 0, unsupported = 0, failed = 0;
  int64_t elements = 0, undecided = 0;
  std::map<std::string, int64_t> calls;

private:
  using Batch = llvm::ArrayRef<const Program *>;
  void run(Batch batch);
  void report(const Program &program, const std::string &why);
  /// Why the batch did not run; empty if it did. Failures of values go to
  /// `failures`.
  std::string attempt(Batch batch, std::vector<Failure> &failures);

  conformance::ScratchFolder scratch;
  unsigned artefacts = 0;
};

/// The smallest program, and the message, that still fails.
Failure reduce(Trial &trial, Failure failure);

} // namespace ft::random

#endif // FORETRACE_TESTS_RANDOM_TRIAL_H
