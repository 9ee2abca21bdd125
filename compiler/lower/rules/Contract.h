//===- Contract.h - Sums of products ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products, convolutions and einsum are one form for code generation: a
// linalg.generic `out += a * b` whose index maps say the rest. Products of
// 16-bit floats are accumulated in float32; the caller rounds once, in the
// pointwise op that also adds the bias.

#ifndef FORETRACE_COMPILER_LOWER_RULES_CONTRACT_H
#define FORETRACE_COMPILER_LOWER_RULES_CONTRACT_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// out[outIndex] = sum of a * b over the reduction dims, in `accumulate`
/// (opmathType of the operands if not given). `order` is the physical order of
/// the result (row-major if empty).
LoweredTensor contract(LowerCall &c, const Access &a, const Access &b,
                       const SizeList &outSizes,
                       llvm::ArrayRef<mlir::AffineExpr> outIndex,
                       llvm::ArrayRef<Iterator> iterators,
                       llvm::ArrayRef<unsigned> order = {},
                       std::optional<DType> accumulate = std::nullopt);

/// A tensor operand together with the ft value that it comes from, which tells
/// whether it is a constant that can be packed. `value` may be null.
struct Source {
  LoweredTensor tensor;
  mlir::Value value;
};

/// Matrix operand B at (n, k): a constant comes in panels of N (README of
/// codegen/cpu), everything else as it lies. `nDim` says which of the two dims
/// of the source is N.
Access matrixAt(LowerCall &c, const Source &matrix, unsigned nDim,
                mlir::AffineExpr n, mlir::AffineExpr k);

/// torch.matmul of all rank combinations, in the accumulation dtype.
LoweredTensor multiply(LowerCall &c, const Source &a, const Source &b);
/// x[…, K] times w[N, K] transposed, in the accumulation dtype.
LoweredTensor linearProduct(LowerCall &c, LoweredTensor x, const Source &w);

/// Rounds to `dtype` after adding `bias`, broadcast to the result (absent:
/// value null). One pointwise op, or none if there is nothing to do.
LoweredTensor addBias(LowerCall &c, LoweredTensor product,
                      const LoweredTensor &bias, DType dtype);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_CONTRACT_H
