//===- Positions.h - Indices that may count from the end -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_POSITIONS_H
#define FORETRACE_COMPILER_SHAPE_POSITIONS_H

#include "compiler/shape/Dim.h"

namespace ft {

/// The position that `index` means in a dim of `size`: a negative one counts
/// from the end. Where the sign is open (a number that data decide, n - 4) the
/// expression says both: index + size where it is negative,
///
///   u0 in 10   ==>   u0 + 10*Min(1, Max(0, -u0))
///
/// An index that is out of range gives a position that is, too.
Dim positionOf(Dim index, Dim size);

/// The same of where a slice starts or ends, clamped to 0..size.
Dim clampedPosition(Dim index, Dim size);

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_POSITIONS_H
