//===- RandomPredicates.h - Random questions for the prover ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_SHAPE_RANDOMPREDICATES_H
#define FORETRACE_TESTS_UNIT_SHAPE_RANDOMPREDICATES_H

#include "compiler/shape/SymExpr.h"

#include <cstdlib>
#include <random>
#include <vector>

namespace ft {

/// A number from the environment: the seed and length of a run.
inline uint64_t setting(const char *name, uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

/// Draws expressions and predicates over the symbols a, b and c.
class RandomPredicates {
public:
  RandomPredicates(SymContext &context, uint64_t seed, bool affineOnly)
      : ctx(context), affine(affineOnly), random(seed) {
    for (llvm::StringRef name : {"a", "b", "c"})
      symbols.push_back(ctx.symbol(name));
  }

  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  SymExpr integer(unsigned depth) {
    SymExpr x = symbols[number(0, symbols.size() - 1)];
    if (depth == 0)
      return number(0, 4) == 0 ? ctx.constant(number(-3, 8)) : x;
    switch (number(0, affine ? 9 : 13)) {
    case 0:
    case 1:
    case 2:
      return integer(depth - 1) * number(-3, 4) +
             integer(depth - 1) * number(-2, 2) + number(-5, 5);
    case 3:
    case 4:
      return ctx.floorDiv(integer(depth - 1), ctx.constant(number(2, 5)));
    case 5:
      return ctx.mod(integer(depth - 1), ctx.constant(number(2, 6)));
    case 6:
      return ctx.ceilDiv(integer(depth - 1), ctx.constant(number(2, 4)));
    case 7:
      return ctx.max(integer(depth - 1), integer(depth - 1));
    case 8:
      return ctx.min(integer(depth - 1), integer(depth - 1));
    case 10:
    case 11:
      return integer(depth - 1) * integer(depth - 1);
    case 12:
      return ctx.floorDiv(integer(depth - 1), x);
    case 13:
      return ctx.mod(integer(depth - 1), x);
    default:
      return x;
    }
  }
  SymExpr atom() {
    SymExpr left = integer(number(0, 2)), right = integer(number(0, 1));
    if (!left || !right)
      return ctx.boolean(true);
    switch (number(0, 4)) {
    case 0:
    case 1:
      return ctx.eq(left, right);
    case 2:
      return ctx.ne(left, right);
    case 3:
      return ctx.le(left, right);
    default:
      return ctx.lt(left, right);
    }
  }
  /// Not one that its canonical form decides.
  SymExpr question() {
    SymExpr q = predicate();
    while (q.kind() == SymKind::Bool)
      q = predicate();
    return q;
  }
  SymExpr predicate() {
    switch (number(0, 9)) {
    case 0:
      return ctx.logicalOr({atom(), atom()});
    case 1:
      return ctx.logicalAnd({atom(), atom()});
    default:
      return atom();
    }
  }

  SymContext &ctx;
  bool affine;
  std::mt19937_64 random;
  std::vector<SymExpr> symbols;
};

} // namespace ft

#endif // FORETRACE_TESTS_UNIT_SHAPE_RANDOMPREDICATES_H
