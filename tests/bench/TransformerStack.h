//===- TransformerStack.h - A program of any length ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_BENCH_TRANSFORMERSTACK_H
#define FORETRACE_TESTS_BENCH_TRANSFORMERSTACK_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ft {

/// `@forward` of a decoder of `layers` layers of kStackLayerCalls calls each,
/// batch 2, 16 positions, 64 wide, 4 heads, as an importer leaves it: the
/// arguments have layouts, the results have none.
mlir::OwningOpRef<mlir::ModuleOp> transformerStack(mlir::MLIRContext &context,
                                                   int layers);
inline constexpr int kStackLayerCalls = 20;

} // namespace ft

#endif // FORETRACE_TESTS_BENCH_TRANSFORMERSTACK_H
