//===- OrderedReshape.h - Reshapes that keep a physical order --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_ORDEREDRESHAPE_H
#define FORETRACE_COMPILER_LOWER_ORDEREDRESHAPE_H

#include "compiler/lower/LowerCall.h"

namespace ft {

/// The same elements in logical order under other sizes, without moving memory
/// where the physical order allows it.
///
/// Old and new dims fall into the smallest groups of equal products; the dims
/// of a group must be physically adjacent and in logical order, the groups may
/// be in any order. Dims of size 1 belong to no group.
///
///   [2, 6, 4, 5] in order {0, 2, 3, 1} to [2, 6, 20]: groups 2→2, 6→6,
///   4·5→20; memory [2, 4, 5, 6] becomes [2, 20, 6], order {0, 2, 1}.
///
/// Otherwise the tensor is made row-major first. Linear in the rank but for
/// that copy.
LoweredTensor orderedReshape(LowerCall &c, LoweredTensor t,
                             const SizeList &sizes);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_ORDEREDRESHAPE_H
