//===- Targets.h - What code can be generated for --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_TARGETS_H
#define FORETRACE_COMPILER_DRIVER_TARGETS_H

#include "compiler/driver/Stage.h"

#include <string>
#include <utility>
#include <vector>

namespace ft {

/// Whether this build has the stage.
FORETRACE_API bool stageAvailable(Stage stage);

/// Names of CPUs that Options::cpu may hold.
FORETRACE_API std::vector<std::string> knownCpus();

/// Chips that Options::target may name: "sm_80".
FORETRACE_API std::vector<std::string> knownChips();

/// What is wrong with Options::target and Options::device, as a sentence;
/// empty: nothing. A chip that the version of PTX does not know is wrong.
FORETRACE_API std::string checkTarget(const std::string &target,
                                      const std::string &device);

/// "sapphirerapids (avx512)" for a name of that list, or for the machine that
/// this runs on if `name` is empty; empty for a name that is not known.
FORETRACE_API std::string describeCpu(const std::string &name);

/// What Options::optimizer may be, and what of torch.optim it is.
FORETRACE_API std::vector<std::pair<std::string, std::string>>
knownOptimizers();

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_TARGETS_H
