//===- Stage.cpp - The stages of the compiler, by name ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Stage.h"

namespace ft {

const std::vector<StageInfo> &allStages() {
  static const std::vector<StageInfo> stages = {
#define FT_STAGE(Id, name, folder, help) {Stage::Id, name, folder, help},
#include "compiler/Stages.def"
#undef FT_STAGE
  };
  return stages;
}

const StageInfo &stageInfo(Stage stage) {
  return allStages()[static_cast<size_t>(stage)];
}

std::optional<Stage> findStage(const std::string &name) {
  for (const StageInfo &info : allStages())
    if (name == info.name)
      return info.stage;
  return std::nullopt;
}

} // namespace ft
