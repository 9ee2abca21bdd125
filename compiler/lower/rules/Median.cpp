//===- Median.cpp - Lowering of medians ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By counting instead of sorting: the rank of an element is the number of
// elements before it in sorted order (equal ones in the order they stand), and
// the median of n elements is the one of rank (n - 1) / 2.
//
//   5 1 3 1   ranks 3 0 2 1   the median is the 1 at position 3
//
// NaN sorts last. median is NaN if there is one (its first position); nanmedian
// counts only the others. Cost: the square of the row.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Ints = SmallVector<int64_t, 6>;
using Cmp = ScalarBuilder::Cmp;

static Value both(ScalarBuilder &s, Value a, Value b) {
  return arith::AndIOp::create(s.b, s.loc, a, b);
}
static Value either(ScalarBuilder &s, Value a, Value b) {
  return arith::OrIOp::create(s.b, s.loc, a, b);
}
static Value negation(ScalarBuilder &s, Value a) {
  return arith::XOrIOp::create(s.b, s.loc, a,
                               s.constantInt(s.b.getI1Type(), 1));
}

/// The rank of each element among its row along `dim`, as int64.
static LoweredTensor ranks(LowerCall &c, LoweredTensor x, unsigned dim) {
  unsigned rank = x.rank();
  SmallVector<AffineExpr, 6> mine, other;
  for (unsigned d = 0; d < rank; ++d) {
    mine.push_back(c.dim(d));
    other.push_back(d == dim ? c.dim(rank) : c.dim(d));
  }
  SmallVector<Iterator> iterators(rank + 1, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  bool isUnsignedType = isUnsigned(x.dtype);
  return c.generic(
      {Access{x, mine}, Access{x, other}},
      Access{c.filledInt(x.sizes(), DType::I64, 0), mine}, iterators,
      [&](ScalarBuilder &s, ValueRange v) {
        Value a = v[0], b = v[1];
        Value aNan = isNan(s, a), bNan = isNan(s, b);
        Value equal = either(s, s.cmp(Cmp::Eq, a, b), both(s, aNan, bNan));
        Value less = either(s, s.cmp(Cmp::Lt, b, a, isUnsignedType),
                            both(s, aNan, negation(s, bNan)));
        Value earlier = s.cmp(Cmp::Lt, loopIndex(s, rank), loopIndex(s, dim));
        Value before = either(s, less, both(s, equal, earlier));
        return SmallVector<Value>{
            s.add(v[2], s.cast(before, DType::Bool, DType::I64))};
      })[0];
}

/// {values, positions} of the medians along `dim`.
static SmallVector<LoweredTensor> medians(LowerCall &c, LoweredTensor x,
                                          unsigned dim, bool keepDim,
                                          bool ignoreNan) {
  int64_t n = x.sizes()[dim];
  DType dtype = x.dtype;
  x = c.toRowMajor(x);
  LoweredTensor order = ranks(c, x, dim);
  c.newGroup();
  LoweredTensor nans = sumOf(
      c,
      c.pointwise(x, x.sizes(), DType::I64,
                  [](ScalarBuilder &s, ValueRange v) {
                    return s.cast(isNan(s, v[0]), DType::Bool, DType::I64);
                  }),
      dim, true, DType::I64);
  c.newGroup();
  // Exactly one element of the row is picked, so the sum of the positions
  // picked is its position.
  Start zero{DType::I64, 0, 0};
  LoweredTensor at =
      reduceTo(c, {order, nans}, dim, true, zero, [&](ReduceStep &r) {
        ScalarBuilder &s = r.s;
        Value count = s.constantInt(s.b.getI64Type(), n);
        Value one = s.constantInt(s.b.getI64Type(), 1);
        Value two = s.constantInt(s.b.getI64Type(), 2);
        Value valid = s.sub(count, r.elements[1]);
        Value middle = s.div(s.sub(valid, one), two);
        Value noNan = s.cmp(Cmp::Eq, r.elements[1], s.zero(count));
        Value none = s.cmp(Cmp::Eq, valid, s.zero(count));
        // The first NaN has the rank of the number of other elements.
        Value want = ignoreNan ? s.select(none, s.zero(middle), middle)
                               : s.select(noNan, middle, valid);
        Value picked = s.cmp(Cmp::Eq, r.elements[0], want);
        return SmallVector<Value>{
            s.add(r.accumulators[0],
                  s.select(picked, r.position(dim), s.zero(count)))};
      })[0];
  c.newGroup();
  unsigned rank = x.rank();
  SmallVector<AffineExpr, 6> index;
  for (unsigned d = 0; d < rank; ++d)
    index.push_back(c.dim(d));
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  LoweredTensor values =
      c.generic(Access{at, index}, Access{c.empty(at.sizes(), dtype), index},
                iterators, [&](ScalarBuilder &s, ValueRange v) {
                  SmallVector<Value> from;
                  for (unsigned d = 0; d < rank; ++d)
                    from.push_back(d == dim ? v[0] : loopIndex(s, d));
                  return SmallVector<Value>{elementAt(s, x, from)};
                })[0];
  if (!keepDim) {
    Ints sizes = at.sizes();
    sizes.erase(sizes.begin() + dim);
    values = c.reshape(values, sizes);
    at = c.reshape(at, sizes);
  }
  return {values, at};
}

/// (self): over all elements.
template <bool ignoreNan>
static LogicalResult whole(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  int64_t n = countOf(x, allDims(x.rank()));
  if (n == 0)
    return c.unsupported("the median of nothing");
  c.setResult(0, medians(c, c.reshape(x, {n}), 0, false, ignoreNan)[0]);
  return success();
}

/// (self, dim, keepdim).
template <bool ignoreNan>
static LogicalResult along(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  bool scalar = x.rank() == 0;
  if (scalar)
    x = c.reshape(x, {1});
  unsigned dim = LowerCall::wrapDim(c.integer(1), x.rank());
  SmallVector<LoweredTensor> r =
      medians(c, x, dim, c.flag(2) && !scalar, ignoreNan);
  c.setResult(0, r[0]);
  c.setResult(1, r[1]);
  return success();
}

static const LowerRuleRow kRows[] = {
    {"median.default", whole<false>},
    {"median.dim", along<false>},
    {"nanmedian.default", whole<true>},
    {"nanmedian.dim", along<true>},
};

ArrayRef<LowerRuleRow> medianLowerRules() { return kRows; }

} // namespace ft
