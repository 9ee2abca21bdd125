//===- Dim.h - One size, stride or offset ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_SHAPE_DIM_H
#define FORETRACE_COMPILER_SHAPE_DIM_H

#include "compiler/shape/SymExpr.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>

namespace ft {

/// A size, stride or storage offset, counted in elements: a plain integer, or
/// a hash-consed expression over symbols when it is not constant. Measured:
/// nearly all entries are plain, so those must not pay for the others;
/// arithmetic on two plain Dims never leaves this header.
class Dim {
public:
  Dim(int64_t value = 0) : number(value) {}
  /// A constant expression becomes a plain integer. `expression` is an integer
  /// and not null.
  explicit Dim(SymExpr expression) {
    if (expression.isConst())
      number = expression.constant();
    else
      expr = expression;
  }

  bool isStatic() const { return !expr; }
  /// The integer; only for static dims.
  int64_t value() const { return number; }
  /// The expression; null for static dims.
  SymExpr symbolic() const { return expr; }
  /// Either form as an expression of `context`.
  SymExpr toExpr(SymContext &context) const {
    return expr ? expr : context.constant(number);
  }
  bool is(int64_t v) const { return !expr && number == v; }

  /// The same integer or the same canonical expression. Two expressions that
  /// are equal only under facts compare unequal here; ask the ShapeEnv.
  bool identical(const Dim &other) const {
    return expr == other.expr && number == other.number;
  }
  bool operator==(const Dim &other) const { return identical(other); }
  bool operator!=(const Dim &other) const { return !identical(other); }

  /// "8", "4*s0 + 1".
  std::string str() const;

private:
  int64_t number = 0;
  SymExpr expr;
};

inline llvm::hash_code hash_value(const Dim &d) {
  return llvm::hash_combine(d.isStatic() ? d.value() : 0,
                            d.symbolic().getImpl());
}

// Arithmetic; floorDiv and mod round as Python does. The divisor of floorDiv,
// ceilDiv and mod must not be the plain integer 0. Overflow of plain integers
// wraps; sizes are checked where they enter (import, the rules' validation). A
// symbolic result that SymContext gives up on (coefficients beyond 64 bits, too
// large an expression) is a fresh symbol, equal to nothing else.
Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
Dim floorDiv(Dim a, Dim b);
Dim ceilDiv(Dim a, Dim b);
Dim mod(Dim a, Dim b);
Dim minDim(Dim a, Dim b);
Dim maxDim(Dim a, Dim b);

using Dims = llvm::SmallVector<Dim, 6>;

/// The product of all entries (1 for none): the number of elements.
Dim product(llvm::ArrayRef<Dim> dims);
/// What a dim of this size counts in strides: a size of 0 as 1, as in PyTorch.
/// Max(1, u0) for sizes that data decide; other symbols count as they are,
/// since strides mean nothing where there are no elements.
Dim atLeastOne(Dim size);
/// Row-major strides, in which each size is atLeastOne.
Dims contiguousStrides(llvm::ArrayRef<Dim> sizes);

} // namespace ft

#endif // FORETRACE_COMPILER_SHAPE_DIM_H
