//===- SymNode.h - Storage of symbolic expressions -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_SYMNODE_H
#define FORETRACE_COMPILER_SHAPE_SYMNODE_H

#include "compiler/shape/SymExpr.h"

#include "llvm/Support/MathExtras.h"

#include <optional>

namespace ft::detail {

/// One interned expression; lives in its context's arena.
struct SymNode {
  SymKind kind;
  unsigned hash;
  /// Nodes of the expression written as a tree, and its height.
  uint32_t size;
  uint32_t depth;
  /// Total degree of a monomial; 1 for an atom, 0 for a constant.
  int64_t degree;
  int64_t value;
  llvm::StringRef name;
  llvm::ArrayRef<SymTerm> terms;
  SymContext *context;
};

// 64-bit arithmetic that says when the result does not fit.
inline std::optional<int64_t> checkedAdd(int64_t a, int64_t b) {
  int64_t r;
  return llvm::AddOverflow(a, b, r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checkedSub(int64_t a, int64_t b) {
  int64_t r;
  return llvm::SubOverflow(a, b, r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checkedMul(int64_t a, int64_t b) {
  int64_t r;
  return llvm::MulOverflow(a, b, r) ? std::nullopt : std::optional(r);
}
/// The quotient rounded down; the divisor is not zero.
inline std::optional<int64_t> checkedFloorDiv(int64_t a, int64_t b) {
  if (a == INT64_MIN && b == -1)
    return std::nullopt;
  int64_t q = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}
/// The remainder with the sign of the divisor, which is not zero.
inline int64_t floorMod(int64_t a, int64_t b) {
  if (b == -1)
    return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
std::optional<int64_t> checkedPow(int64_t base, int64_t exponent);

} // namespace ft::detail

#endif // FORETRACE_COMPILER_SHAPE_SYMNODE_H
