//===- Targets.cpp - What code can be generated for ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Targets.h"

#include "compiler/driver/Pipeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

namespace ft {

bool stageAvailable(Stage stage) { return hasStage(stage); }

std::vector<std::string> knownCpus() {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  return std::vector<std::string>(names.begin(), names.end());
}

std::string describeCpu(const std::string &name) {
  if (name.empty())
    return llvm::sys::getHostCPUName().str();
  return llvm::is_contained(knownCpus(), name) ? name : "";
}

} // namespace ft
