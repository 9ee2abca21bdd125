//===- Reducing.h - Reductions with any accumulators -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LowerCall::reduce has one accumulator that starts at a double. Here several
// accumulators run over several operands at once, start at exact integers where
// they must, and see where in the operand they are:
//
//   argmax over dim 1 of x[3, 5]:
//     accumulators  best (starts at the lowest value), where (starts at max)
//     body          x > best ? (x, index(1)) : (best, where)
//
// Invariant: a body must not depend on the order in which elements arrive, as
// codegen may split a reduction (argmax compares positions for that reason).

#ifndef FORETRACE_COMPILER_LOWER_RULES_REDUCING_H
#define FORETRACE_COMPILER_LOWER_RULES_REDUCING_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// The value that an accumulator starts at.
struct Start {
  DType dtype;
  double number = 0;
  std::optional<int64_t> exact;
};

/// The neutral element of a maximum (-inf, or the smallest integer).
Start lowestOf(DType dtype);
/// The neutral element of a minimum.
Start highestOf(DType dtype);

/// A tensor filled with the start value.
LoweredTensor filledWith(LowerCall &c, const SizeList &sizes,
                         const Start &start);

/// What the body of a reduction sees.
struct ReduceStep {
  ScalarBuilder &s;
  /// One compute value for each operand, in the operand's own dtype.
  mlir::ValueRange elements;
  mlir::ValueRange accumulators;
  /// Iteration dim of each logical dim of the first operand.
  llvm::ArrayRef<unsigned> loops;

  /// The position along a logical dim of the first operand, as i64.
  mlir::Value position(unsigned logicalDim);
};

using ReduceBody =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(ReduceStep &)>;

/// Reduces `dims` (logical dims of the first operand). Further operands have
/// the same rank and are broadcast to the first (size 1). The results keep the
/// physical order of the dims that stay, and with keepDim have size 1 in the
/// others.
llvm::SmallVector<LoweredTensor>
reduceTo(LowerCall &c, llvm::ArrayRef<LoweredTensor> ins,
         llvm::ArrayRef<unsigned> dims, bool keepDim,
         llvm::ArrayRef<Start> starts, ReduceBody body);

/// Sum of f(element) in `accumulate`; `f` gets the element already converted.
LoweredTensor sumOf(
    LowerCall &c, LoweredTensor in, llvm::ArrayRef<unsigned> dims, bool keepDim,
    DType accumulate,
    llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::Value)> f = nullptr);
/// a · b, a · a and b · b along a dim of both, in `accumulate`.
llvm::SmallVector<LoweredTensor> dotAndSquares(LowerCall &c, LoweredTensor a,
                                               LoweredTensor b, unsigned dim,
                                               DType accumulate);
/// Maximum in the operand's dtype; NaN wins.
LoweredTensor maxOf(LowerCall &c, LoweredTensor in,
                    llvm::ArrayRef<unsigned> dims, bool keepDim);
LoweredTensor minOf(LowerCall &c, LoweredTensor in,
                    llvm::ArrayRef<unsigned> dims, bool keepDim);

/// The dims of a reduction: an absent or empty list means all of them.
llvm::SmallVector<unsigned> reducedDims(LowerCall &c, unsigned arg,
                                        unsigned rank);
llvm::SmallVector<unsigned> allDims(unsigned rank);
/// Product of the sizes of these dims.
Dim elementsAlong(const LoweredTensor &t, llvm::ArrayRef<unsigned> dims);
/// The same of a static tensor.
int64_t countOf(const LoweredTensor &t, llvm::ArrayRef<unsigned> dims);

/// x != x, or a false constant for types without NaN.
mlir::Value isNan(ScalarBuilder &s, mlir::Value x);

/// Inside a body: the element of a tensor at logical positions (i64 values,
/// which must be in range) as a compute value.
mlir::Value elementAt(ScalarBuilder &s, const LoweredTensor &t,
                      llvm::ArrayRef<mlir::Value> index);
/// Inside a body: iteration dim `loop`, as i64.
mlir::Value loopIndex(ScalarBuilder &s, unsigned loop);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_REDUCING_H
