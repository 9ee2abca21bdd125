//===- CutGraph.h - The joint graph as a graph to cut ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes and edges that KeptValues.h describes, with what is known of each
// call: the weights are kept apart from the cut, so that a search may cut the
// same graph several times with other weights.

#ifndef FORETRACE_COMPILER_PARTITION_CUTGRAPH_H
#define FORETRACE_COMPILER_PARTITION_CUTGRAPH_H

#include "compiler/partition/JointGraph.h"
#include "compiler/partition/MinCut.h"
#include "compiler/partition/PartitionOptions.h"
#include "compiler/partition/SizeHints.h"

#include "llvm/ADT/SmallVector.h"

namespace ft {

/// A call that needs no tangent, or an argument (which has no `op`).
struct CutCall {
  mlir::Operation *op = nullptr;
  bool isArgument = false;
  /// Why it cannot be done again; null if it can. "random numbers", …
  const char *once = nullptr;
  /// It could be done again, but is worth more than the bytes that this would
  /// save, unless memory is short.
  bool isExpensive = false;
  /// Forward needs it whatever is kept.
  bool inForward = true;
  int64_t flops = 0;
  /// Of doing it again, in 1024ths of a byte; what an expensive one is worth is
  /// `work`: operations, and so many more for the call itself.
  MinCut::Capacity weight = 0;
  double work = 0;
};

struct CutValue {
  mlir::Value value;
  /// The number of the call that makes it.
  unsigned call = 0;
  /// An argument that the caller gives to backward, too.
  bool isFree = false;
  /// Of keeping it.
  int64_t bytes = 0;
  /// Why it cannot be kept; null if it can.
  const char *notKept = nullptr;
  bool isView = false;
  /// Calls with tangents read it.
  bool isNeeded = false;
};

class CutGraph {
public:
  /// In 1024ths of a byte.
  static constexpr MinCut::Capacity kByte = 1024;
  /// A call by itself, in floating point operations: about a microsecond.
  static constexpr double kCallWork = 32768;

  CutGraph() = default;
  CutGraph(const JointGraph &graph, mlir::ModuleOp module);

  std::vector<CutCall> calls;
  std::vector<CutValue> values;
  /// The numbers of the values that each call reads.
  std::vector<llvm::SmallVector<unsigned, 4>> operands;

private:
  void addArgument(const JointGraph &graph, mlir::BlockArgument argument);
  void addCall(const JointGraph &graph, mlir::Operation *op);
  void weigh(CutCall &call);

  SizeHints hints;
  /// The number of each value.
  llvm::DenseMap<mlir::Value, unsigned> numbers;
};

/// Marks the calls that names of the options match: `ft.keep`, `ft.recompute`.
/// [FT0904] a name that matches none.
mlir::LogicalResult markByName(const JointGraph &graph,
                               const PartitionOptions &options);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_CUTGRAPH_H
