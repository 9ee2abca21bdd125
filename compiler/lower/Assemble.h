//===- Assemble.h - Tensors put together from pieces -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_ASSEMBLE_H
#define FORETRACE_COMPILER_LOWER_ASSEMBLE_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// Pieces of one dtype, equal but along `dim`, side by side. The result has the
/// physical order of the first piece; the others are brought into it.
LoweredTensor concatenate(LowerCall &c, llvm::ArrayRef<LoweredTensor> pieces,
                          unsigned dim);

/// `whole` with a window (start, and step along each dim; its sizes are those
/// of `piece`) replaced by `piece`.
LoweredTensor insert(LowerCall &c, LoweredTensor whole, LoweredTensor piece,
                     const SizeList &start, llvm::ArrayRef<int64_t> step);

/// A fresh row-major tensor whose element at the iteration dims is t[index].
LoweredTensor gatherAffine(LowerCall &c, const LoweredTensor &t,
                           llvm::ArrayRef<mlir::AffineExpr> index,
                           const SizeList &sizes);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_ASSEMBLE_H
