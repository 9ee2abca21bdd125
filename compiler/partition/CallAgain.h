//===- CallAgain.h - A call as backward does it again ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Backward may need fewer results of a call than forward, and then fewer
// operands. Running statistics are what this is for: forward writes them, so
// backward would keep them as they were to make new ones that nobody reads.
//
//   %0:5 = _native_batch_norm_legit_functional(%x, %w, %b, %mean, %var, true,
//   …) return %0#0, %0#3 {buffer_mutation}, %0#4 {buffer_mutation}
//
//   again: %0:3 = _native_batch_norm_legit.no_stats(%x, %w, %b, true, …)

#ifndef FORETRACE_COMPILER_PARTITION_CALLAGAIN_H
#define FORETRACE_COMPILER_PARTITION_CALLAGAIN_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SmallVector.h"

namespace ft {

/// The operands that a call of a joint graph, which needs no tangent, reads
/// when it is done for backward.
llvm::SmallVector<mlir::Value, 4> operandsAgain(mlir::Operation *op);

/// The call for backward, with operands by `map`, which then has its results.
mlir::Operation *cloneAgain(mlir::OpBuilder &builder, mlir::Operation *op,
                            mlir::IRMapping &map);

} // namespace ft

#endif // FORETRACE_COMPILER_PARTITION_CALLAGAIN_H
