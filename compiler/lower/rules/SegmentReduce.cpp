//===- SegmentReduce.cpp - Lowering of segment_reduce and renorm *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/PNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Ints = SmallVector<int64_t, 6>;
using Cmp = ScalarBuilder::Cmp;

/// offsets[s + shift] of a one-dimensional tensor of integers, as int64.
static LoweredTensor bounds(LowerCall &c, LoweredTensor offsets, int64_t shift,
                            int64_t count) {
  return c.cast(c.slice(offsets, 0, shift, count), DType::I64);
}

/// The sum of the lengths before each segment (and of its own, if `inclusive`).
static LoweredTensor boundsOfLengths(LowerCall &c, LoweredTensor lengths,
                                     bool inclusive) {
  DType from = lengths.dtype;
  int64_t n = lengths.sizes()[0];
  return c.generic(Access{lengths, {c.dim(1)}},
                   Access{c.filledInt({n}, DType::I64, 0), {c.dim(0)}},
                   {Iterator::Parallel, Iterator::Reduction},
                   [&](ScalarBuilder &s, ValueRange v) {
                     Value length = s.cast(v[0], from, DType::I64);
                     Value before = s.cmp(inclusive ? Cmp::Le : Cmp::Lt,
                                          loopIndex(s, 1), loopIndex(s, 0));
                     return SmallVector<Value>{
                         s.add(v[1], s.select(before, length, s.zero(length)))};
                   })[0];
}

/// (data, reduce, lengths, indices, offsets, axis, unsafe, initial): segments
/// of the first dim. Each visits all rows and keeps its own.
static LogicalResult segmentReduce(LowerCall &c) {
  LoweredTensor data = c.operand(0);
  StringRef how = c.call().args[1].str;
  bool byLengths = !c.isNone(2);
  if (c.integer(5) != 0 || (!byLengths && c.isNone(4)))
    return c.unsupported("segments of an inner dim, or by indices");
  LoweredTensor given = c.operand(byLengths ? 2 : 4);
  if (given.rank() != 1)
    return c.unsupported("segments of an inner dim, or by indices");
  int64_t segments = given.sizes()[0] - (byLengths ? 0 : 1);
  LoweredTensor first = byLengths ? boundsOfLengths(c, given, false)
                                  : bounds(c, given, 0, segments);
  LoweredTensor end = byLengths ? boundsOfLengths(c, given, true)
                                : bounds(c, given, 1, segments);
  c.newGroup();

  bool hasInitial = !c.isNone(7);
  DType from = data.dtype, dtype = opmathType(from);
  Start start{dtype, how == "prod" ? 1.0 : 0.0, std::nullopt};
  if (how == "max")
    start = lowestOf(dtype);
  else if (how == "min")
    start = highestOf(dtype);
  if (hasInitial)
    start = {dtype, c.number(7), std::nullopt};

  // Loops: segment, the inner dims, row.
  unsigned rank = data.rank();
  Ints sizes = data.sizes();
  sizes[0] = segments;
  SmallVector<AffineExpr, 6> index, out;
  for (unsigned d = 0; d < rank; ++d) {
    index.push_back(c.dim(d == 0 ? rank : d));
    out.push_back(c.dim(d));
  }
  SmallVector<Iterator> iterators(rank + 1, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  LoweredTensor y = c.generic(
      {Access{data, index}, Access{first, {c.dim(0)}}, Access{end, {c.dim(0)}}},
      Access{filledWith(c, sizes, start), out}, iterators,
      [&](ScalarBuilder &s, ValueRange v) {
        Value row = loopIndex(s, rank);
        Value mine = arith::AndIOp::create(
            s.b, s.loc, s.cmp(Cmp::Le, v[1], row), s.cmp(Cmp::Lt, row, v[2]));
        Value x = s.cast(v[0], from, dtype), a = v[3];
        Value next = how == "max"    ? s.maximum(a, x)
                     : how == "min"  ? s.minimum(a, x)
                     : how == "prod" ? s.mul(a, x)
                                     : s.add(a, x);
        return SmallVector<Value>{s.select(mine, next, a)};
      })[0];
  if (how == "mean") {
    Ints wide(rank, 1);
    wide[0] = segments;
    y = c.pointwise({y, c.reshape(first, wide), c.reshape(end, wide)}, sizes,
                    dtype, [&](ScalarBuilder &s, ValueRange v) {
                      Value length = s.sub(v[2], v[1]);
                      // Without an initial value the mean of nothing is 0 / 0.
                      if (hasInitial)
                        length = s.maximum(length, s.one(length));
                      return s.div(v[0], s.cast(length, DType::I64, dtype));
                    });
  }
  c.setResult(0, c.cast(y, c.resultMeta(0).dtype));
  return success();
}

/// Scales each slice along `dim` whose p-norm exceeds maxnorm down to it:
/// (self, p, dim, maxnorm).
static LogicalResult renorm(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  double p = c.number(1), limit = c.number(3);
  unsigned dim = LowerCall::wrapDim(c.integer(2), x.rank());
  DType from = x.dtype, dtype = opmathType(from);
  if (isComplex(from))
    return c.unsupported("complex numbers");
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < x.rank(); ++d)
    if (d != dim)
      dims.push_back(d);
  LoweredTensor norms = pNorm(c, x, p, dims, true, dtype);
  c.setResult(
      0, c.pointwise(
             {x, norms}, c.resultMeta(0), [&](ScalarBuilder &s, ValueRange v) {
               Value norm = v[1];
               Value bound = s.constant(norm.getType(), limit);
               Value factor =
                   s.div(bound, s.add(norm, s.constant(norm.getType(), 1e-7)));
               factor =
                   s.select(s.cmp(Cmp::Gt, norm, bound), factor, s.one(norm));
               return s.cast(s.mul(s.cast(v[0], from, dtype), factor), dtype,
                             from);
             }));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"renorm.default", renorm},
    {"segment_reduce.default", segmentReduce},
};

ArrayRef<LowerRuleRow> segmentReduceLowerRules() { return kRows; }

} // namespace ft
