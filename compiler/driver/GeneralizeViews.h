//===- GeneralizeViews.h - Sizes that views were traced with ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that was traced with fixed sizes names them in its views:
//
//   x [batch, 8, 48], traced with batch = 2
//   view(x, [2, 8, 4, 12])     the elements do not fit, unless batch is 2
//   view(x, [16, 48])
//
// A view has as many elements as its tensor, so that some literal was the
// example's value of an expression. Dims are matched from the left into groups
// of equal products at the example; in a group, the leftmost literal that is a
// multiple of the example's value takes the symbol's place: [batch, 8, 4, 12],
// [8*batch, 48]. `expand` takes the size of the tensor it meets at that dim.
//
// Other literals are sizes only if the program proves it: arange(2), zeros([2,
// 2, 24]), expand(x, [2, 4]) of a size 1, x[:8] of a table. A copy of the
// module is propagated with a symbol of its own in the place of each literal
// that an input's size has as its example; where the guards that this makes
// imply that the symbol is that size, the literal forces the size, and is it.
// Of
//
//   h = zeros([2, 2, 24]);  lstm(x, h, …)      x [batch, 8, 16], batch = 2
//
// the guards say literal0 == 2, two layers, and literal1 == batch. So is the
// size of what arange(batch) indexes: expand(ids, [2, 8])[arange(batch)]. (A
// program that does mean the number 2 takes no other batch; what it broadcasts,
// it would take with a batch of 1 too, and give two rows.)
//
// Invariant: with the example's sizes the program is the same as before. What
// is wrong about a choice shows in the guards of stage fake: sizes that do not
// fit together force each other. Cost: three walks of the program.

#ifndef FORETRACE_COMPILER_DRIVER_GENERALIZEVIEWS_H
#define FORETRACE_COMPILER_DRIVER_GENERALIZEVIEWS_H

#include "mlir/IR/BuiltinOps.h"

namespace ft {

/// Rewrites the literal sizes of views, expansions and fresh tensors of
/// `@forward` that the symbols of its inputs must have made. Says nothing: what
/// cannot be rewritten, or propagated, is left as it is.
void generalizeViews(mlir::ModuleOp module);

} // namespace ft

#endif // FORETRACE_COMPILER_DRIVER_GENERALIZEVIEWS_H
