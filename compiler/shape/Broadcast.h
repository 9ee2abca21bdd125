//===- Broadcast.h - Broadcasting that the run decides ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two sizes broadcast if they are equal or one of them is 1. Where it is not
// known which of the three holds, the size of the result and the steps of the
// operands are expressions that are right in each:
//
//   a   b   Max(a, b)   step along a, b: Min(a - 1, 1), Min(b - 1, 1)
//   4   4   4           1, 1
//   1   4   4           0, 1
//   4   1   4           1, 0
//
// Where a size may be 0 the larger one is no answer: 1 and 0 make 0.

#ifndef FORETRACE_COMPILER_SHAPE_BROADCAST_H
#define FORETRACE_COMPILER_SHAPE_BROADCAST_H

#include "compiler/shape/Dim.h"

namespace ft {

/// What a and b broadcast to, given that a == b, a == 1 or b == 1. `positive`:
/// neither can be 0. Null on overflow.
SymExpr broadcastSize(SymExpr a, SymExpr b, bool positive);

/// How far an operand of this size moves for one step along the dim that it is
/// broadcast to: 0 if its size is 1, else 1.
Dim broadcastStep(Dim size, bool positive);

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_BROADCAST_H
