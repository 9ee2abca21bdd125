//===- Positions.cpp - Indices that may count from the end ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/shape/Positions.h"

#include "llvm/ADT/STLExtras.h"

namespace ft {

/// A sum of sizes of inputs, which are no negative numbers.
static bool isSumOfSizes(Dim d) {
  SymTerm storage;
  SymExpr::Affine sum = d.symbolic().affine(storage);
  return sum.constant >= 0 && llvm::all_of(sum.terms, [](const SymTerm &term) {
           return term.k > 0 && term.expr.kind() == SymKind::Symbol &&
                  !term.expr.context().hasUnbacked(term.expr);
         });
}

Dim positionOf(Dim index, Dim size) {
  if (index.isStatic())
    return index.value() < 0 ? index + size : index;
  if (isSumOfSizes(index))
    return index;
  return index + size * minDim(1, maxDim(0, Dim(0) - index));
}

Dim clampedPosition(Dim index, Dim size) {
  Dim at = positionOf(index, size);
  if (at.isStatic() ? at.value() < 0 : !isSumOfSizes(at))
    at = maxDim(at, 0);
  return minDim(at, size);
}

} // namespace ft
