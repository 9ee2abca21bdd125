//===- Optimizers.cpp - The table of optimizers ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/optimizer/Optimizers.h"

namespace ft {

static constexpr OptimizerInfo kOptimizers[] = {
#define FT_OPTIMIZER(name, lr, momentum, weightDecay, beta1, beta2, eps, help) \
  {OptimizerKind::name,                                                        \
   #name,                                                                      \
   lr,                                                                         \
   momentum,                                                                   \
   weightDecay,                                                                \
   beta1,                                                                      \
   beta2,                                                                      \
   eps,                                                                        \
   help},
#include "compiler/optimizer/Optimizers.def"
};

llvm::ArrayRef<OptimizerInfo> allOptimizers() { return kOptimizers; }

const OptimizerInfo *findOptimizer(llvm::StringRef name) {
  for (const OptimizerInfo &info : kOptimizers)
    if (name == info.name)
      return &info;
  return nullptr;
}

std::string optimizerNames() {
  std::string names;
  for (const OptimizerInfo &info : kOptimizers)
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

bool readsHyperparameter(OptimizerKind kind, llvm::StringRef field) {
  if (field == "momentum" || field == "dampening" || field == "nesterov")
    return kind == OptimizerKind::momentum;
  if (field == "beta1" || field == "beta2" || field == "eps")
    return kind == OptimizerKind::adam || kind == OptimizerKind::adamw;
  return true;
}

} // namespace ft
