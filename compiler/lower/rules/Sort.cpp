//===- Sort.cpp - Lowering of sorting and searching -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorting is stable, with NaN greater than all numbers, as in ATen.
//
// Short lines (n ≤ 64) sort by counting: the place of an element is the number
// of elements that go before it, and the element of place r is found by looking
// at all places. 2 n² cheap, vectorizable steps in two kernels.
//
// Longer ones are sorted by a C kernel (runtime/kernels/sort.c), in time that
// grows as their length, but by counting on a device, which has none. Searches
// are binary, all loops over bits unrolled.

#include "compiler/lower/Gather.h"
#include "compiler/lower/OrderedReshape.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/LibraryKernel.h"
#include "compiler/lower/rules/Scratch.h"
#include "compiler/lower/rules/Search.h"
#include "compiler/lower/rules/Sorting.h"
#include "dialects/ft/Promotion.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Sizes = Dims;
using Cmp = ScalarBuilder::Cmp;

/// Lines whose length is of the run are not sorted by counting.
static constexpr int64_t kCountingLimit = 64;

/// a sorts strictly before b.
static Value before(ScalarBuilder &s, Value a, Value b, DType dtype,
                    bool descending) {
  if (descending)
    std::swap(a, b);
  Value less = s.cmp(Cmp::Lt, a, b, isUnsigned(dtype));
  if (!isFloating(dtype))
    return less;
  Value aIsNumber = s.cmp(Cmp::Eq, a, a), bIsNan = s.cmp(Cmp::Ne, b, b);
  return arith::OrIOp::create(
      s.b, s.loc, less, arith::AndIOp::create(s.b, s.loc, aIsNumber, bIsNan));
}

/// The first `keep` places of each line.
static Sorted sortByCounting(LowerCall &c, LoweredTensor x, bool descending,
                             Dim keep) {
  Sizes sizes = x.dims();
  auto last = static_cast<unsigned>(sizes.size()) - 1;
  SmallVector<AffineExpr, 6> at, other;
  for (unsigned d = 0; d <= last; ++d)
    at.push_back(c.dim(d));
  other = at;
  other[last] = c.dim(last + 1);
  SmallVector<Iterator> iterators(last + 1, Iterator::Parallel);
  iterators.push_back(Iterator::Reduction);
  // An element is compared with itself as well: it must be one number, from
  // memory, not one that is computed twice and rounded in two ways.
  c.newGroup();
  LoweredTensor rank =
      c.generic({Access{x, at}, Access{x, other}},
                Access{c.filledInt(sizes, DType::I64, 0), at}, iterators,
                [&](ScalarBuilder &s, ValueRange v) {
                  Value earlier = s.cmp(Cmp::Lt, iterationIndex(s, last + 1),
                                        iterationIndex(s, last));
                  Value first = before(s, v[1], v[0], x.dtype, descending);
                  Value after = before(s, v[0], v[1], x.dtype, descending);
                  // Before, or equal and to the left.
                  Value goes =
                      s.select(first, first, s.select(after, first, earlier));
                  return SmallVector<Value>{
                      s.add(v[2], s.cast(goes, DType::Bool, DType::I64))};
                })[0];
  c.newGroup();
  sizes[last] = keep;
  SmallVector<LoweredTensor> found =
      c.generic({Access{x, other}, Access{rank, other}},
                {Access{c.filledInt(sizes, x.dtype, 0), at},
                 Access{c.filledInt(sizes, DType::I64, 0), at}},
                iterators, [&](ScalarBuilder &s, ValueRange v) {
                  Value r = fromIndex(s, iterationIndex(s, last), DType::I64);
                  Value hit = s.cmp(Cmp::Eq, v[1], r);
                  Value i =
                      fromIndex(s, iterationIndex(s, last + 1), DType::I64);
                  return SmallVector<Value>{s.select(hit, v[0], v[2]),
                                            s.select(hit, i, v[3])};
                });
  return {found[0], found[1]};
}

Sorted sortLines(LowerCall &c, LoweredTensor x, unsigned dim, bool descending,
                 Dim keep) {
  SmallVector<unsigned> order;
  for (unsigned d = 0; d < x.rank(); ++d)
    if (d != dim)
      order.push_back(d);
  order.push_back(dim);
  x = c.toRowMajor(c.permute(x, order));
  Sizes sizes = x.dims();
  Dim n = sizes.back();
  if (isForGpu(c) || (n.isStatic() && n.value() <= kCountingLimit))
    return sortByCounting(c, x, descending, keep);
  Dim rows = product(ArrayRef<Dim>(sizes).drop_back());
  auto r =
      callKernel(c, "sort", c.reshape(x, {rows, n}), Arg::truth(descending),
                 {{{rows, keep}, x.dtype}, {{rows, keep}, DType::I64}},
                 scratchFor(rows, 40 * n, ft_scratch_sort(n)));
  sizes.back() = keep;
  return {c.reshape(r[0], sizes), c.reshape(r[1], sizes)};
}

/// `dim` back in its place.
static LoweredTensor restored(LowerCall &c, LoweredTensor t, unsigned dim) {
  SmallVector<unsigned> order;
  for (unsigned d = 0; d + 1 < t.rank(); ++d)
    order.push_back(d);
  order.insert(order.begin() + dim, t.rank() - 1);
  return c.permute(t, order);
}

static LogicalResult sorted(LowerCall &c, int64_t dimension, bool descending,
                            std::optional<Dim> keep, int values, int places) {
  LoweredTensor x = c.operand(0);
  if (isComplex(x.dtype))
    return c.unsupported("complex numbers have no order");
  auto set = [&](int r, LoweredTensor t) {
    if (r >= 0)
      c.setResult(static_cast<unsigned>(r), t);
  };
  bool none = keep && keep->is(0);
  if (x.rank() == 0 || hasNoElements(x.dims()) || none) {
    for (int r : {values, places})
      if (r >= 0)
        set(r, r == values && !none
                   ? x
                   : c.filledInt(dimsOf(c.resultMeta(static_cast<unsigned>(r))),
                                 r == values ? x.dtype : DType::I64, 0));
    return success();
  }
  unsigned dim = c.wrapDim(dimension, x.rank());
  Sorted s = sortLines(c, x, dim, descending, keep.value_or(x.dims()[dim]));
  set(values, restored(c, s.keys, dim));
  set(places, restored(c, s.places, dim));
  return success();
}

static LogicalResult sort(LowerCall &c) {
  return sorted(c, c.integer(1), c.flag(2), std::nullopt, 0, 1);
}
static LogicalResult sortStable(LowerCall &c) {
  return sorted(c, c.integer(2), c.flag(3), std::nullopt, 0, 1);
}
static LogicalResult argsort(LowerCall &c) {
  return sorted(c, c.integer(1), c.flag(2), std::nullopt, -1, 0);
}
static LogicalResult argsortStable(LowerCall &c) {
  return sorted(c, c.integer(2), c.flag(3), std::nullopt, -1, 0);
}
static LogicalResult msort(LowerCall &c) {
  return sorted(c, 0, false, std::nullopt, 0, -1);
}
/// By a C kernel (a device takes the first): which of several equal elements
/// are chosen is a property of the selection algorithm, and programs see it.
static LogicalResult topk(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  Dim k = c.dimArg(1);
  // A number has itself, even where none is asked for.
  if (x.rank() == 0)
    return sorted(c, 0, c.flag(3), 1, 0, 1);
  if (isComplex(x.dtype) || k.is(0) || hasNoElements(x.dims()) || isForGpu(c))
    return sorted(c, c.integer(2), c.flag(3), k, 0, 1);
  unsigned dim = c.wrapDim(c.integer(2), x.rank());
  SmallVector<unsigned, 6> order;
  for (unsigned d = 0; d < x.rank(); ++d)
    if (d != dim)
      order.push_back(d);
  order.push_back(dim);
  Dim n = x.dims()[dim];
  Dims sizes;
  for (unsigned d : order)
    sizes.push_back(x.dims()[d]);
  Dim rows = product(ArrayRef<Dim>(sizes).drop_back());
  sizes.back() = k;
  DType wide = isIntegral(x.dtype) ? DType::I64 : DType::F64;
  LoweredTensor lines = c.reshape(c.cast(c.permute(x, order), wide), {rows, n});
  auto r = callKernel(c, "topk", {c.toRowMajor(lines)},
                      {Arg::integer(k), Arg::truth(c.flag(3))},
                      {{{rows, k}, wide}, {{rows, k}, DType::I64}},
                      {1, maxDim(64, n * Dim(16))});
  c.setResult(0, c.cast(restored(c, c.reshape(r[0], sizes), dim), x.dtype));
  c.setResult(1, restored(c, c.reshape(r[1], sizes), dim));
  return success();
}

static LogicalResult kthValue(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  if (x.rank() == 0)
    return sorted(c, 0, false, 1, 0, 1);
  unsigned dim = c.wrapDim(c.integer(2), x.rank());
  Dim k = c.dimArg(1);
  Sorted s = sortLines(c, x, dim, false, k);
  for (unsigned r : {0U, 1U}) {
    LoweredTensor t = r == 0 ? s.keys : s.places;
    t = restored(c, c.slice(t, t.rank() - 1, k - 1, 1), dim);
    c.setResult(r, orderedReshape(c, t, dimsOf(c.resultMeta(r))));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

/// Values and sequences share all dims but the last, or there is one sequence.
static LogicalResult search(LowerCall &c, LoweredTensor sequence,
                            std::optional<LoweredTensor> sorter,
                            LoweredTensor values, bool right) {
  TypePromotion promotion;
  promotion.add(sequence.dtype, false);
  promotion.add(values.dtype, values.rank() == 0);
  DType dtype = promotion.result().value_or(sequence.dtype);
  Sizes sizes = values.dims();
  Dim n = sequence.dims().back();
  DType result = c.resultMeta(0).dtype;
  if (n.is(0) || hasNoElements(sizes)) {
    c.setResult(0, c.filledInt(dimsOf(c.resultMeta(0)), result, 0));
    return success();
  }
  values = c.toRowMajor(values);
  sequence = withSpare(c, sequence, sequence.rank() - 1);
  if (sorter)
    sorter = withSpare(c, *sorter, sorter->rank() - 1);
  c.setResult(
      0, generateFrom(c, values, sizes, result,
                      [&](ScalarBuilder &s, ValueRange v, ArrayRef<Value> at) {
                        Value value = s.cast(v[0], values.dtype, dtype);
                        SmallVector<Value> where;
                        if (sequence.rank() > 1)
                          where.assign(at.begin(), at.end() - 1);
                        where.push_back(Value());
                        Value place = binarySearch(
                            c, s, value, n, right, dtype, [&](Value i) {
                              where.back() = i;
                              if (sorter)
                                where.back() =
                                    toIndex(s, readAt(s, *sorter, where),
                                            sorter->dtype);
                              return s.cast(readAt(s, sequence, where),
                                            sequence.dtype, dtype);
                            });
                        return fromIndex(s, place, result);
                      }));
  return success();
}

/// A number argument as a tensor without dims.
static LoweredTensor numberTensor(LowerCall &c, unsigned arg) {
  const Arg &a = c.call().args[arg];
  if (a.kind == Arg::Int)
    return generate(c, {}, DType::I64, [&](ScalarBuilder &s, ArrayRef<Value>) {
      return c.sizeIn(s, a.dim, DType::I64);
    });
  return c.filled({}, DType::F32, c.number(arg));
}

static LogicalResult searchSorted(LowerCall &c) {
  bool number = c.call().args[1].isNumber();
  LoweredTensor values = number ? numberTensor(c, 1) : c.operand(1);
  const AtenCall &call = c.call();
  bool right = call.arg("right").boolean || call.arg("side").str == "right";
  std::optional<LoweredTensor> sorter;
  int sorterArg = call.schema->argIndex("sorter");
  if (sorterArg >= 0 && !c.isNone(static_cast<unsigned>(sorterArg))) {
    sorter = c.operand(static_cast<unsigned>(sorterArg));
    Dim n = sorter->dims().back();
    c.checkIndex(*sorter, 0, n, n);
  }
  return search(c, c.operand(0), sorter, values, right);
}

static LogicalResult bucketize(LowerCall &c) {
  bool number = c.call().args[0].isNumber();
  return search(c, c.operand(1), std::nullopt,
                number ? numberTensor(c, 0) : c.operand(0),
                c.call().arg("right").boolean);
}

/// Looks every element up among the sorted test elements. NaN is in nothing.
static LogicalResult isIn(LowerCall &c) {
  auto tensor = [&](unsigned arg) {
    return c.call().args[arg].isNumber() ? numberTensor(c, arg)
                                         : c.operand(arg);
  };
  LoweredTensor x = tensor(0), tests = tensor(1);
  Dim count = product(tests.dims());
  bool invert = c.call().arg("invert").boolean;
  Sizes sizes = x.dims();
  if (count.is(0) || hasNoElements(sizes)) {
    c.setResult(0, c.filledInt(sizes, DType::Bool, invert));
    return success();
  }
  TypePromotion promotion;
  promotion.add(x.dtype, false);
  promotion.add(tests.dtype, false);
  DType dtype = promotion.result().value_or(x.dtype);
  if (isComplex(dtype))
    return c.unsupported("complex numbers have no order");
  if (dtype == DType::Bool)
    dtype = DType::U8;
  tests = c.cast(c.reshape(tests, {count}), dtype);
  LoweredTensor keys = sortLines(c, tests, 0, false, count).keys;
  c.newGroup();
  // Of the run: there may be none, and then no last one to look at.
  bool known = count.isStatic();
  keys = withSpare(c, keys, 0);
  c.setResult(
      0,
      c.pointwise(x, sizes, DType::Bool, [&](ScalarBuilder &s, ValueRange v) {
        Value e = s.cast(v[0], x.dtype, dtype);
        auto key = [&](Value i) { return readAt(s, keys, i); };
        Value at = lowerBound(c, s, e, count, dtype, key);
        if (known) {
          Value last = sizeIndex(c, s, count - 1);
          return s.cmp(invert ? Cmp::Ne : Cmp::Eq, e, key(s.minimum(at, last)));
        }
        Value found = s.cmp(Cmp::Lt, at, sizeIndex(c, s, count));
        found = s.mul(found, s.cmp(Cmp::Eq, e, key(at)));
        return invert ? s.cmp(Cmp::Eq, found, s.zero(found)) : found;
      }));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("sort.default", sort),
    anyShape("sort.stable", sortStable),
    anyShape("argsort.default", argsort),
    anyShape("argsort.stable", argsortStable),
    anyShape("msort.default", msort),
    anyShape("topk.default", topk),
    anyShape("kthvalue.default", kthValue),
    anyShape("searchsorted.Tensor", searchSorted),
    anyShape("searchsorted.Scalar", searchSorted),
    anyShape("bucketize.Tensor", bucketize),
    anyShape("bucketize.Scalar", bucketize),
    anyShape("isin.Tensor_Tensor", isIn),
    anyShape("isin.Tensor_Scalar", isIn),
    anyShape("isin.Scalar_Tensor", isIn),
};

ArrayRef<LowerRuleRow> sortLowerRules() { return kRows; }

} // namespace ft
