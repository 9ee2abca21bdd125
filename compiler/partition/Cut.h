//===- Cut.h - One cut of the joint graph, at given weights ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_PARTITION_CUT_H
#define FORETRACE_COMPILER_PARTITION_CUT_H

#include "compiler/partition/CutGraph.h"

#include "llvm/ADT/BitVector.h"

namespace ft {

/// How much computing again weighs against bytes.
struct CutWeights {
  /// What one unit of CutCall::work weighs. Nothing: expensive calls are not
  /// done again. 0: as few bytes as possible, whatever there is to do again.
  std::optional<double> perWork;
  /// Calls that are not done again though they could be; may be empty.
  llvm::BitVector once;
};

/// What one cut comes to.
struct Cut {
  /// By number: the calls that backward does, the values that are kept.
  llvm::BitVector again, kept;
  /// Of the kept values but for arguments.
  int64_t bytes = 0;
  /// Of the expensive calls that are done twice.
  double work = 0;
};

/// The cheapest cut. If each is infinite: nothing, and `path` has the nodes
/// from what is not done again to what cannot be kept: calls by number, then
/// values from calls.size() on.
std::optional<Cut> cheapestCut(const CutGraph &graph, const CutWeights &weights,
                               llvm::SmallVectorImpl<unsigned> *path = nullptr);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_CUT_H
