//===- Median.cpp - Lowering of medians ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The median of n sorted elements is the one at (n - 1) / 2. NaN sorts last:
// median is NaN if there is one (its first position), nanmedian takes the
// median of what stands before them.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Reducing.h"
#include "compiler/lower/rules/Sorting.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

/// {values, positions} of the medians along `dim`, that dim last and of size 1.
static std::pair<LoweredTensor, LoweredTensor>
medians(LowerCall &c, LoweredTensor x, unsigned dim, bool ignoreNan) {
  Dim n = x.dims()[dim];
  Sorted sorted = sortLines(c, x, dim, false, n);
  c.newGroup();
  unsigned rank = x.rank();
  LoweredTensor nans = sumOf(
      c,
      c.pointwise(sorted.keys, sorted.keys.dims(), DType::I64,
                  [](ScalarBuilder &s, ValueRange v) {
                    return s.cast(isNan(s, v[0]), DType::Bool, DType::I64);
                  }),
      rank - 1, true, DType::I64);
  c.newGroup();
  auto pick = [&](LoweredTensor from) {
    return generateFrom(
        c, nans, nans.dims(), from.dtype,
        [&](ScalarBuilder &s, ValueRange v, ArrayRef<Value> at) {
          Value one = s.one(v[0]), two = s.add(one, one);
          Value valid = s.sub(c.sizeIn(s, n, DType::I64), v[0]);
          Value middle = s.div(s.sub(valid, one), two);
          // Of NaN alone, and where one counts, the first.
          Value whole = s.cmp(Cmp::Eq, v[0], s.zero(one));
          Value none = s.cmp(Cmp::Eq, valid, s.zero(one));
          Value want = ignoreNan ? s.select(none, s.zero(one), middle)
                                 : s.select(whole, middle, valid);
          SmallVector<Value> place(at);
          place.back() = toIndex(s, want, DType::I64);
          return readAt(s, from, place);
        });
  };
  return {pick(sorted.keys), pick(sorted.places)};
}

/// (self): over all elements.
template <bool ignoreNan>
static LogicalResult whole(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  Dim n = elementsAlong(x, allDims(x.rank()));
  if (n.is(0))
    return c.unsupported("the median of nothing");
  if (!n.isStatic())
    checkPositive(c, n, "no elements");
  c.setResult(0,
              c.reshape(medians(c, c.reshape(x, {n}), 0, ignoreNan).first, {}));
  return success();
}

/// (self, dim, keepdim).
template <bool ignoreNan>
static LogicalResult along(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  if (x.rank() == 0)
    x = c.reshape(x, {1});
  unsigned dim = LowerCall::wrapDim(c.integer(1), x.rank());
  auto [values, places] = medians(c, x, dim, ignoreNan);
  c.setResult(0, c.reshape(values, dimsOf(c.resultMeta(0))));
  c.setResult(1, c.reshape(places, dimsOf(c.resultMeta(1))));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("median.default", whole<false>),
    anyShape("median.dim", along<false>),
    anyShape("nanmedian.default", whole<true>),
    anyShape("nanmedian.dim", along<true>),
};

ArrayRef<LowerRuleRow> medianLowerRules() { return kRows; }

} // namespace ft
