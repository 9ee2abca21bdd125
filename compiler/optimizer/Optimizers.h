//===- Optimizers.h - The table of optimizers ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_OPTIMIZER_OPTIMIZERS_H
#define FORETRACE_COMPILER_OPTIMIZER_OPTIMIZERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace ft {

enum class OptimizerKind {
#define FT_OPTIMIZER(name, lr, momentum, weightDecay, beta1, beta2, eps, help) \
  name,
#include "compiler/optimizer/Optimizers.def"
};

/// A row of Optimizers.def.
struct OptimizerInfo {
  OptimizerKind kind;
  const char *name;
  double lr, momentum, weightDecay, beta1, beta2, eps;
  const char *help;
};

llvm::ArrayRef<OptimizerInfo> allOptimizers();
/// Null: there is none of that name.
const OptimizerInfo *findOptimizer(llvm::StringRef name);
/// "sgd, momentum, adam, adamw"
std::string optimizerNames();
/// Whether an update of this kind reads the field of ft_optimizer_options.
bool readsHyperparameter(OptimizerKind kind, llvm::StringRef field);

} // namespace ft

#endif // FORETRACE_COMPILER_OPTIMIZER_OPTIMIZERS_H
