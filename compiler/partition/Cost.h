//===- Cost.h - What it costs to compute a value again ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost contract of an operator: floating point operations, bytes moved, and
// a recompute class. The partitioner weighs with it whether a value is kept
// between forward and backward, or computed again; `foretrace ops` prints the
// class.
//
// The contract is a table (Cost.def): a row for each family, with exceptions by
// name. How operations are counted is a formula of the call's shapes, one for
// each kind of work, so that most operators need no code.
//
// Tests: tests/unit/partition/CostTest.cpp.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_COMPILER_PARTITION_COST_H
#define FORETRACE_COMPILER_PARTITION_COST_H

#include "dialects/ft/AtenCall.h"

namespace ft {

/// From what costs nothing to what must not happen.
enum class RecomputeClass : uint8_t {
  /// Another look at the same memory, or a question about a size.
  View,
  /// Each element of the result from a few of the operands: fuses with what
  /// reads it.
  Pointwise,
  /// Passes over the operands a fixed number of times.
  Reduction,
  /// More work than the memory it moves: products, factorisations, sorts.
  Expensive,
  /// Random numbers, writes, results that depend on data: a second time need
  /// not give the same.
  Never
};

/// "view", "pointwise", "reduction", "expensive", "never".
llvm::StringRef recomputeClassName(RecomputeClass recompute);

/// The class of an overload, whatever its arguments. Never for overloads that
/// write.
RecomputeClass recomputeClass(const Schema &schema);

/// Numbers are exact for the operator as defined, not for the code that is made
/// of it; symbolic where the shapes are.
struct OpCost {
  RecomputeClass recompute = RecomputeClass::Never;
  /// A product and a sum count as two; an elementary function as 10 to 40.
  Dim flops;
  /// Of memory that a kernel of this call alone reads and writes: each operand
  /// once (an expanded one without its repetitions, a gathered one as far as it
  /// is read), each result once. 0 for views.
  Dim bytesRead, bytesWritten;
};

/// The cost of a call. `args` follow the schema; their tensors are numbers into
/// `operands`. Calls with dropout are Never.
///
///   mm of f32 [8, 16] and [16, 4]:  expensive, 2*8*4*16 = 1024 flops,
///                                   4*(8*16 + 16*4) = 768 bytes read, 128
///                                   written
OpCost costOf(const Schema &schema, llvm::ArrayRef<Arg> args,
              llvm::ArrayRef<TensorMeta> operands,
              llvm::ArrayRef<TensorMeta> results);

/// The cost of an annotated call; nothing if `op` is no call of ATen or lacks
/// an annotation.
std::optional<OpCost> costOf(mlir::Operation *op);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_COST_H
