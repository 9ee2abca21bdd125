//===- Targets.cpp - What code can be generated for ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Targets.h"

#include "compiler/codegen/cpu/Target.h"
#include "compiler/codegen/cuda/CudaTarget.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/optimizer/Optimizers.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/DType.h"

namespace ft {

bool stageAvailable(Stage stage) { return hasStage(stage); }

std::vector<std::string> knownCpus() { return knownCpuNames(); }

std::vector<std::pair<std::string, std::string>> knownOptimizers() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const OptimizerInfo &info : allOptimizers())
    all.emplace_back(info.name, info.help);
  return all;
}

std::vector<std::string> knownChips() { return knownCudaChips(); }

std::string checkTarget(const std::string &target, const std::string &device) {
  llvm::StringRef text = target;
  std::optional<Device> to = Device::parse(device.empty() ? "cpu" : device);
  if (!to)
    return "'" + device + "' is no device: devices are cpu, cuda:N and meta";
  if (text == "cpu")
    return "";
  if (!text.consume_front("cuda") ||
      (!text.empty() && !text.consume_front(":")))
    return "no target is called '" + target + "'";
  if (!device.empty() && to->kind != Device::Cuda)
    return "code for a GPU is asked for, and the model moved to " + device;
  llvm::Expected<CudaTarget> chip = CudaTarget::parse(text);
  if (chip)
    return "";
  std::vector<Diagnostic> rows = takeDiagnostics(chip.takeError());
  return rows.empty() ? "a bad chip" : rows.front().message;
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
