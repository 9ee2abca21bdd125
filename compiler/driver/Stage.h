//===- Stage.h - The stages of the compiler, by name -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_DRIVER_STAGE_H
#define FORETRACE_COMPILER_DRIVER_STAGE_H

#include "compiler/support/Export.h"

#include <optional>
#include <string>
#include <vector>

namespace ft {

/// The rows of compiler/Stages.def, in order.
enum class Stage {
#define FT_STAGE(Id, name, folder, help) Id,
#include "compiler/Stages.def"
#undef FT_STAGE
};

struct StageInfo {
  Stage stage;
  const char *name;   ///< "fake"
  const char *folder; ///< "compiler/fake"
  const char *help;   ///< one line
};

/// All stages, in order.
FORETRACE_API const std::vector<StageInfo> &allStages();
FORETRACE_API const StageInfo &stageInfo(Stage stage);
/// The stage called `name`, if there is one.
FORETRACE_API std::optional<Stage> findStage(const std::string &name);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_STAGE_H
