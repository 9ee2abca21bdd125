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

namespace {
/// Where segments of the first dim begin and end.
struct Segments {
  int64_t count = 0;
  LoweredTensor first, end;
};
} // namespace

/// From arguments `lengths` or `offsets`, one of which is given.
static std::optional<Segments> segmentsOf(LowerCall &c, unsigned lengths,
                                          unsigned offsets) {
  bool byLengths = !c.isNone(lengths);
  if (!byLengths && c.isNone(offsets))
    return std::nullopt;
  LoweredTensor given = c.operand(byLengths ? lengths : offsets);
  if (given.rank() != 1)
    return std::nullopt;
  Segments s;
  s.count = given.sizes()[0] - (byLengths ? 0 : 1);
  s.first = byLengths ? boundsOfLengths(c, given, false)
                      : bounds(c, given, 0, s.count);
  s.end = byLengths ? boundsOfLengths(c, given, true)
                    : bounds(c, given, 1, s.count);
  c.newGroup();
  return s;
}

/// (data, reduce, lengths, indices, offsets, axis, unsafe, initial): segments
/// of the first dim. Each visits all rows and keeps its own.
static LogicalResult segmentReduce(LowerCall &c) {
  LoweredTensor data = c.operand(0);
  StringRef how = c.call().args[1].str;
  std::optional<Segments> given =
      c.integer(5) == 0 ? segmentsOf(c, 2, 4) : std::nullopt;
  if (!given)
    return c.unsupported("segments of an inner dim, or by indices");
  auto [segments, first, end] = *given;

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

/// (grad, output, data, reduce, *, lengths, offsets, axis, initial): each row
/// takes from the segment that it is in.
static LogicalResult segmentReduceBackward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), output = c.operand(1), data = c.operand(2);
  StringRef how = c.call().args[3].str;
  std::optional<Segments> given =
      c.integer(6) == 0 ? segmentsOf(c, 4, 5) : std::nullopt;
  if (!given)
    return c.unsupported("segments of an inner dim");
  LoweredTensor first = given->first, end = given->end;
  bool extreme = how == "max" || how == "min", isProduct = how == "prod";
  DType from = data.dtype, dtype = opmathType(from);
  double initial = c.isNone(7) ? 1 : c.number(7);
  grad = c.cast(grad, dtype);
  output = c.cast(output, dtype);
  data = c.cast(data, dtype);

  // Loops: row, the inner dims, segment (or another row).
  unsigned rank = data.rank();
  SmallVector<AffineExpr, 6> here, other;
  for (unsigned d = 0; d < rank; ++d) {
    here.push_back(c.dim(d));
    other.push_back(c.dim(d == 0 ? rank : d));
  }
  SmallVector<Iterator> iterators(rank + 1, Iterator::Parallel);
  iterators.back() = Iterator::Reduction;
  Access begins{first, {c.dim(rank)}}, ends{end, {c.dim(rank)}};
  auto inside = [](ScalarBuilder &s, Value row, Value lo, Value hi) {
    return arith::AndIOp::create(s.b, s.loc, s.cmp(Cmp::Le, lo, row),
                                 s.cmp(Cmp::Lt, row, hi))
        .getResult();
  };
  // An element that is its segment's extreme; a NaN always is.
  auto isExtreme = [](ScalarBuilder &s, Value x, Value result) {
    return arith::OrIOp::create(s.b, s.loc, s.cmp(Cmp::Eq, x, result),
                                isNan(s, x))
        .getResult();
  };
  LoweredTensor factor; // what the gradient of the segment is multiplied by
  if (extreme) {
    // Extremes of one segment share its gradient, if that is positive: as
    // PyTorch's kernel has it.
    SmallVector<AffineExpr, 6> rows(here), segment(here);
    rows[0] = c.dim(rank);
    factor = c.generic({Access{data, rows}, Access{output, segment},
                        Access{first, {c.dim(0)}}, Access{end, {c.dim(0)}}},
                       Access{c.filled(output.sizes(), dtype, 0), segment},
                       iterators, [&](ScalarBuilder &s, ValueRange v) {
                         Value hit = arith::AndIOp::create(
                             s.b, s.loc, isExtreme(s, v[0], v[1]),
                             inside(s, loopIndex(s, rank), v[2], v[3]));
                         return SmallVector<Value>{
                             s.add(v[4], s.cast(hit, DType::Bool, dtype))};
                       })[0];
    c.newGroup();
  }
  LoweredTensor others; // the product of a segment's other elements
  if (isProduct) {
    int64_t n = data.sizes()[0];
    LoweredTensor segmentOf =
        c.generic({Access{first, {c.dim(1)}}, Access{end, {c.dim(1)}}},
                  Access{c.filledInt({n}, DType::I64, -1), {c.dim(0)}},
                  {Iterator::Parallel, Iterator::Reduction},
                  [&](ScalarBuilder &s, ValueRange v) {
                    Value mine = inside(s, loopIndex(s, 0), v[0], v[1]);
                    return SmallVector<Value>{
                        s.maximum(v[2], s.select(mine, loopIndex(s, 1), v[2]))};
                  })[0];
    c.newGroup();
    others =
        c.generic({Access{data, other}, Access{segmentOf, {c.dim(0)}},
                   Access{segmentOf, {c.dim(rank)}}},
                  Access{c.filled(data.sizes(), dtype, initial), here},
                  iterators, [&](ScalarBuilder &s, ValueRange v) {
                    Value counts = arith::AndIOp::create(
                        s.b, s.loc, s.cmp(Cmp::Eq, v[1], v[2]),
                        s.cmp(Cmp::Ne, loopIndex(s, 0), loopIndex(s, rank)));
                    return SmallVector<Value>{
                        s.mul(v[3], s.select(counts, v[0], s.one(v[0])))};
                  })[0];
    c.newGroup();
  }
  SmallVector<Access> ins = {Access{data, here}, Access{grad, other},
                             Access{output, other}, begins, ends};
  if (extreme)
    ins.push_back(Access{factor, other});
  if (isProduct)
    ins.push_back(Access{others, here});
  LoweredTensor y =
      c.generic(ins, Access{c.filled(data.sizes(), dtype, 0), here}, iterators,
                [&](ScalarBuilder &s, ValueRange v) {
                  Value mine = inside(s, loopIndex(s, 0), v[3], v[4]);
                  Value g = v[1];
                  if (how == "mean")
                    g = s.div(g, s.cast(s.sub(v[4], v[3]), DType::I64, dtype));
                  if (extreme)
                    g = s.select(isExtreme(s, v[0], v[2]),
                                 s.select(s.cmp(Cmp::Gt, g, s.zero(g)),
                                          s.div(g, v[5]), g),
                                 s.zero(g));
                  if (isProduct)
                    g = s.mul(g, v[5]);
                  return SmallVector<Value>{
                      s.add(v.back(), s.select(mine, g, s.zero(g)))};
                })[0];
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
    {"_segment_reduce_backward.default", segmentReduceBackward},
    {"renorm.default", renorm},
    {"segment_reduce.default", segmentReduce},
};

ArrayRef<LowerRuleRow> segmentReduceLowerRules() { return kRows; }

} // namespace ft
