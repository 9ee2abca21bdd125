//===- InPlace.h - Kernels that write where they read ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_INPLACE_H
#define FORETRACE_COMPILER_LOWER_INPLACE_H

#include "mlir/IR/Value.h"

#include "llvm/ADT/ArrayRef.h"

namespace ft {

/// Element i of `out`, which a kernel of these operations makes, depends on no
/// element of `v` but i: `v`, and what is made of it, are only read by
/// pointwise operations, at the index that they write. A kernel whose only
/// output is `out` may then write it into the memory of `v`.
bool isReadAsWritten(llvm::ArrayRef<mlir::Operation *> kernel, mlir::Value v,
                     mlir::Value out);

/// The same for a kernel of several outputs, some of which may lie in the
/// memory of other inputs: all operations are pointwise and of the shape of
/// `v`. Such a kernel is one loop nest, which reads all that an element needs
/// before it writes (codegen/cpu/README.md, `ft.inplace`).
///
///   %m1 = generic(%m, %g)  identity maps       w[i] and m[i] are read before
///   %w1 = generic(%w, %m1) identity maps   →   they are written, and nobody
///   return %w1 "w", %m1 "m"                    else reads element i
bool areReadAsWritten(llvm::ArrayRef<mlir::Operation *> kernel, mlir::Value v,
                      mlir::Value out);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_INPLACE_H
