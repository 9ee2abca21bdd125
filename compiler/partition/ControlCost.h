//===- ControlCost.h - What a branch or a loop costs -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost contract (Cost.h) of operations with regions, made of that of the
// calls inside:
//
//   cond    both branches: which one runs is not known
//   scan    the body, as often as there are positions
//   while   never again: how often it runs is not known
//
// The class is that of the most expensive call inside, at least pointwise.

#ifndef FORETRACE_COMPILER_PARTITION_CONTROLCOST_H
#define FORETRACE_COMPILER_PARTITION_CONTROLCOST_H

#include "compiler/partition/Cost.h"

namespace ft {

struct ControlCost {
  OpCost cost;
  /// Calls that are made, but for views: small ones take as long as that.
  Dim calls = 0;
  /// Why it must not be done again, if cost.recompute is Never.
  const char *reason = nullptr;
};

/// The cost of an annotated ft.cond, ft.while or ft.scan; nothing for others.
std::optional<ControlCost> controlCostOf(mlir::Operation *op);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_CONTROLCOST_H
