//===- ModelsCommand.h - ft-conformance models -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_CONFORMANCE_MODELSCOMMAND_H
#define FORETRACE_TESTS_CONFORMANCE_MODELSCOMMAND_H

#include "compiler/support/CodeChecks.h"
#include "tests/conformance/Report.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ft::conformance {

struct ModelsOptions {
  std::string folder;
  /// Names of models; empty: all.
  std::vector<std::string> only;
  /// "static", "dynb", "dynbs", "dd", "core", "core-dyn", "train"; empty: all.
  std::vector<std::string> variants;
  bool meta = true, values = true, sizes = false;
  /// With `values`: also the gradients, of the models that have some; others
  /// are skipped.
  bool grads = false;
  /// As of the options of these names of `foretrace`.
  std::vector<std::string> loopBounds;
  std::string memoryBudget;
  /// Models are moved to a GPU, which the emulator is. What has no code for it
  /// is skipped (`no-cuda`).
  bool emulated = false;
  /// Of the code that models are compiled to.
  CodeChecks checks;
};

/// Takes every archive of the folder that has recorded values through the
/// compiler:
///
/// - meta: imports it, propagates it, and compares shape, strides, dtype and
///   device of each node of its .meta.json. The `core` variants have no
///   archive: their graph is built from the nodes of the .core.meta.json.
/// - values: compiles it, runs its cases (see casesOf), and compares outputs
///   and the buffers that it changes. Those that the program refuses are
///   skipped (`refused`).
/// - sizes: dynb and dynbs, see SizesCheck.
///
/// Each node, output and buffer counts as one.
llvm::Error runModels(const ModelsOptions &options, Report &report);

/// The recorded cases that a variant runs: 0 for static; all for train; for
/// dynb 0 and 2 where there is a case 2, else 0 and 1; for dynbs and dd 0
/// and 1. With dynb and dynbs all from the fourth on too.
std::vector<unsigned> casesOf(llvm::StringRef variant, unsigned recorded);

} // namespace ft::conformance

#endif // FORETRACE_TESTS_CONFORMANCE_MODELSCOMMAND_H
