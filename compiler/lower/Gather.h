//===- Gather.h - Reading tensors at computed indices ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_GATHER_H
#define FORETRACE_COMPILER_LOWER_GATHER_H

#include "compiler/lower/LowerCall.h"

namespace ft {

// Used in bodies of LowerCall::generic and pointwise.

/// The current position of an iteration dim, of type index. Inside pointwise()
/// dims are physical dims of the result; inside generic() those of the caller.
mlir::Value iterationIndex(ScalarBuilder &s, unsigned dim);

/// The element at a logical position (values of type index, in bounds), as a
/// compute value.
mlir::Value readAt(ScalarBuilder &s, const LoweredTensor &tensor,
                   llvm::ArrayRef<mlir::Value> index);

/// An integer as an index; negative ones count from `size`.
mlir::Value wrappedIndex(ScalarBuilder &s, mlir::Value index, DType dtype,
                         int64_t size);
mlir::Value wrappedIndex(ScalarBuilder &s, mlir::Value index, DType dtype,
                         mlir::Value size);

/// Conversion between integers and index.
mlir::Value toIndex(ScalarBuilder &s, mlir::Value integer, DType dtype);
mlir::Value fromIndex(ScalarBuilder &s, mlir::Value index, DType dtype);

/// A size as an index, in a body.
mlir::Value sizeIndex(LowerCall &c, ScalarBuilder &s, Dim size);

/// With one element more along a dim of the run: it may have none, and bodies
/// read one before they know whether they want it.
LoweredTensor withSpare(LowerCall &c, LoweredTensor t, unsigned dim);

/// Makes the call fail at run time, with `otherwise` in the status, unless a
/// size of the run is positive: for results that are made of some element.
void checkPositive(LowerCall &c, Dim size, const llvm::Twine &otherwise);

/// Computes every element of a fresh row-major tensor from its logical
/// position (values of type index).
LoweredTensor
generate(LowerCall &c, const SizeList &sizes, DType dtype,
         llvm::function_ref<mlir::Value(ScalarBuilder &,
                                        llvm::ArrayRef<mlir::Value>)>
             element);

/// The same with the elements of operands of the same sizes at hand.
LoweredTensor
generateFrom(LowerCall &c, llvm::ArrayRef<LoweredTensor> ins,
             const SizeList &sizes, DType dtype,
             llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange,
                                            llvm::ArrayRef<mlir::Value>)>
                 element);

/// A constant vector of numbers, one dim.
LoweredTensor constantVector(LowerCall &c, llvm::ArrayRef<int64_t> values);
LoweredTensor constantVector(LowerCall &c, llvm::ArrayRef<double> values,
                             DType dtype);

/// The sizes that two tensors broadcast to: aligned at the end, those of 1 give
/// way. The fake rule saw that they fit.
llvm::SmallVector<int64_t, 6> broadcastSizes(llvm::ArrayRef<int64_t> a,
                                             llvm::ArrayRef<int64_t> b);
Dims broadcastDims(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b);

/// The sizes of an annotation.
inline Dims dimsOf(const TensorMeta &meta) {
  return Dims(meta.sizes.begin(), meta.sizes.end());
}
/// The static sizes of an annotation.
llvm::SmallVector<int64_t, 6> staticSizes(const TensorMeta &meta);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_GATHER_H
