//===- Targets.cpp - What code can be generated for ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Targets.h"

#include "compiler/codegen/cpu/Target.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/optimizer/Optimizers.h"

namespace ft {

bool stageAvailable(Stage stage) { return hasStage(stage); }

std::vector<std::string> knownCpus() { return knownCpuNames(); }

std::vector<std::pair<std::string, std::string>> knownOptimizers() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const OptimizerInfo &info : allOptimizers())
    all.emplace_back(info.name, info.help);
  return all;
}

std::string describeCpu(const std::string &name) {
  llvm::Expected<CpuTarget> target = CpuTarget::resolve(name);
  if (!target) {
    llvm::consumeError(target.takeError());
    return "";
  }
  return target->cpu + " (" + target->isa.name + ")";
}

} // namespace ft
