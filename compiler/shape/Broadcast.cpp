//===- Broadcast.cpp - Broadcasting that the run decides -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/Broadcast.h"

namespace ft {

SymExpr broadcastSize(SymExpr a, SymExpr b, bool positive) {
  SymContext &symbols = a.context();
  if (positive)
    return symbols.max(a, b);
  // a + b minus the smaller: the larger, and 1 + 0 - 1 for 1 and 0. That no
  // less than 1 is taken off leaves -1 only of 0 and 0.
  SymExpr smaller = symbols.max(symbols.min(a, b), symbols.constant(1));
  return smaller ? symbols.max(a + b - smaller, symbols.constant(0))
                 : SymExpr();
}

Dim broadcastStep(Dim size, bool positive) {
  Dim more = size - Dim(1);
  return minDim(positive ? more : maxDim(more, Dim(1) - size), Dim(1));
}

} // namespace ft
