//===- KeptValues.h - What forward keeps for backward ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a joint graph are kept between forward and backward, so that
// the fewest bytes are kept; what is not kept is computed again.
//
// A minimum cut (MinCut.h): on the source's side stands what forward has done,
// on the sink's what backward has to do or to have. A value is kept where the
// call that makes it is on the source's side and the value on the sink's:
//
//   %1 = ft.mm(%x, %w)     not done again         source ─∞→ mm
//   %2 = ft.gelu(%1)       again for little       source ─1→ gelu
//   …  = ft.mm(%2, %v)     backward: ∂v = %2ᵀ t   %2 ─∞→ sink
//
//   source ─∞→ mm ─4096→ %1 ─∞→ gelu ─4096→ %2 ─∞→ sink
//
// One edge for each way to pay:
//   call → result    the bytes of the result, made dense; infinite for numbers,
//                    which cannot be kept
//   source → call    computing it again: floating point operations and memory
//                    passes, where 1024 are a byte; nothing for views and for
//                    what forward does not need anyway; infinite for products,
//                    convolutions, attention (Cost.h: expensive) and for what
//                    would not give the same again (never)
//   operand → call   infinite: a call that is done again needs its operands
//   value → sink     infinite: what calls with tangents read
// Arguments cost nothing: the caller has them; those that forward writes cost
// the bytes of their old contents.
//
// So views cost nothing, storages are counted and not the views of them; a
// cast of a parameter is cast again; of values of equal bytes the one is kept
// that leaves less to do.
//
// The user may overrule: `ft.keep` (unit) on a call forbids that it is done
// again, `ft.recompute` that its results are kept; so do the options, by name.
// Views are made again in any case. [FT0903] if that leaves no cut, with the
// way from what must not be done again to what cannot be kept.
//
// Cost: that of MinCut on a node for each call and each value.

#ifndef FORETRACE_COMPILER_PARTITION_KEPTVALUES_H
#define FORETRACE_COMPILER_PARTITION_KEPTVALUES_H

#include "compiler/partition/JointGraph.h"
#include "compiler/partition/PartitionOptions.h"

#include "llvm/ADT/MapVector.h"

namespace ft {

/// In the order of the joint graph, arguments that forward writes among them;
/// and why each is kept.
using KeptValues = llvm::MapVector<mlir::Value, std::string>;

mlir::FailureOr<KeptValues> chooseKept(const JointGraph &graph,
                                       mlir::ModuleOp module,
                                       const PartitionOptions &options);

/// What a budget comes to.
struct BudgetPoint {
  /// The smallest budget that gives at least this, in thousandths of what is
  /// kept without one, rounded up.
  double budget = 1;
  /// Kept, but for arguments, symbols at their hints.
  int64_t bytes = 0;
  /// What backward does again: operations, and the products, convolutions and
  /// attentions among the calls.
  int64_t flops = 0, products = 0;
};

/// What each budget comes to, the smallest that can be reached for those below
/// it; points that keep the same bytes as the one before are left out. Nothing
/// is changed; options.budget is not looked at.
mlir::FailureOr<std::vector<BudgetPoint>>
budgetPoints(const JointGraph &graph, mlir::ModuleOp module,
             const PartitionOptions &options, llvm::ArrayRef<double> budgets);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_KEPTVALUES_H
