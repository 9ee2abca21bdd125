//===- Overflow.h - Numbers that do not fit 64 bits ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_OVERFLOW_H
#define FORETRACE_COMPILER_SHAPE_OVERFLOW_H

#include "compiler/shape/Dim.h"

#include "llvm/ADT/StringSet.h"

namespace ft {

/// What symbolic arithmetic gives whose coefficients do not fit 64 bits: a
/// symbol of which nothing is known, with this prefix. Nothing may declare one,
/// and no program may have one: whoever ends a computation asks isTooLarge.
inline constexpr llvm::StringLiteral kTooLarge = "too-large-";

inline bool isTooLarge(Dim d) {
  if (d.isStatic())
    return false;
  llvm::StringSet<> names;
  d.symbolic().collectSymbols(names);
  return llvm::any_of(names, [](const auto &entry) {
    return entry.getKey().starts_with(kTooLarge);
  });
}

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_OVERFLOW_H
