//===- SegmentReduce.cpp - Lowering of segment_reduce and renorm *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/PNorm.h"
#include "compiler/lower/rules/Segments.h"
#include "compiler/lower/rules/Updates.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace ft {

using Ints = Dims;
using Cmp = ScalarBuilder::Cmp;

namespace {
/// Segments of the first dim.
struct Segments {
  Dim count = 0;
  /// The segment of each row, or -1.
  LoweredTensor of;
};
} // namespace

/// From arguments `lengths` or `offsets`, one of which is given, for n rows.
static std::optional<Segments> segmentsFrom(LowerCall &c, unsigned lengths,
                                            unsigned offsets, Dim n) {
  bool byLengths = !c.isNone(lengths);
  if (!byLengths && c.isNone(offsets))
    return std::nullopt;
  LoweredTensor given = c.operand(byLengths ? lengths : offsets);
  if (given.rank() != 1)
    return std::nullopt;
  Segments s;
  s.count = given.dims()[0] - Dim(byLengths ? 0 : 1);
  s.of = byLengths ? segmentsByLength(c, given, n)
                   : segmentsByStart(c, given, s.count, n);
  return s;
}

/// A fold of rows into the segments that they are in, of `sizes`.
static Updates intoSegments(LowerCall &c, const Segments &segments,
                            ArrayRef<Dim> rowSizes, DType dtype) {
  Updates u;
  auto rank = static_cast<unsigned>(rowSizes.size());
  u.sizes.assign(rowSizes.begin(), rowSizes.end());
  u.sizes[0] = segments.count;
  u.dtype = dtype;
  u.loops = rank;
  for (unsigned d = 0; d < rank; ++d)
    u.from.push_back(d == 0 ? UpdatePlace{UpdatePlace::Index, 0}
                            : UpdatePlace{UpdatePlace::Loop, d});
  Ints column(rank, 1);
  column[0] = rowSizes[0];
  u.indices = {c.reshape(segments.of, column)};
  u.skip = -1;
  return u;
}

/// The lengths of segments, [count, 1, …].
static LoweredTensor lengthsOf(LowerCall &c, const Segments &segments,
                               unsigned rank) {
  Ints column(rank, 1);
  column[0] = segments.count;
  return c.reshape(rowsOfSegments(c, segments.of, segments.count), column);
}

/// (data, reduce, lengths, indices, offsets, axis, unsafe, initial): segments
/// of the first dim.
static LogicalResult segmentReduce(LowerCall &c) {
  LoweredTensor data = c.operand(0);
  StringRef how = c.call().args[1].str;
  Ints sizes = data.dims();
  std::optional<Segments> segments =
      c.integer(5) == 0 ? segmentsFrom(c, 2, 4, sizes[0]) : std::nullopt;
  if (!segments)
    return c.unsupported("segments of an inner dim, or by indices");

  bool hasInitial = !c.isNone(7);
  DType dtype = opmathType(data.dtype);
  Start start{dtype, how == "prod" ? 1.0 : 0.0, std::nullopt};
  if (how == "max")
    start = lowestOf(dtype);
  else if (how == "min")
    start = highestOf(dtype);
  if (hasInitial)
    start = {dtype, c.number(7), std::nullopt};

  Updates u = intoSegments(c, *segments, sizes, dtype);
  u.fold = how == "max"    ? Fold::Max
           : how == "min"  ? Fold::Min
           : how == "prod" ? Fold::Product
                           : Fold::Sum;
  u.start = filledWith(c, u.sizes, start);
  u.values = data;
  LoweredTensor y = foldUpdates(c, u);
  if (how == "mean")
    y = c.pointwise({y, lengthsOf(c, *segments, data.rank())}, u.sizes, dtype,
                    [&](ScalarBuilder &s, ValueRange v) {
                      Value length = v[1];
                      // Without an initial value the mean of nothing is 0 / 0.
                      if (hasInitial)
                        length = s.maximum(length, s.one(length));
                      return s.div(v[0], s.cast(length, DType::I64, dtype));
                    });
  c.setResult(0, c.cast(y, c.resultMeta(0).dtype));
  return success();
}

/// An element that is its segment's extreme; a NaN always is.
static Value isExtreme(ScalarBuilder &s, Value x, Value result) {
  return arith::OrIOp::create(s.b, s.loc, s.cmp(Cmp::Eq, x, result),
                              isNan(s, x));
}

/// What each row takes from its segment: `of` [count, …] at the row's segment
/// (that of row 0 for rows in none).
static LoweredTensor ofSegment(LowerCall &c, const Segments &segments,
                               LoweredTensor of, ArrayRef<Dim> rowSizes) {
  SmallVector<AffineExpr, 6> at;
  for (unsigned d = 0; d < rowSizes.size(); ++d)
    at.push_back(c.dim(d));
  SmallVector<Iterator> iterators(rowSizes.size(), Iterator::Parallel);
  Ints own = of.dims();
  return c.generic(
      Access{segments.of, {at[0]}}, Access{c.empty(rowSizes, of.dtype), at},
      iterators, [&](ScalarBuilder &s, ValueRange v) {
        SmallVector<Value> where = {s.maximum(v[0], s.zero(v[0]))};
        for (unsigned d = 1; d < rowSizes.size(); ++d)
          where.push_back(own[d] == 1 ? s.zero(v[0]) : loopIndex(s, d));
        return SmallVector<Value>{elementAt(s, of, where)};
      })[0];
}

/// For each row the product of the other rows of its segment, times `initial`:
/// the segment's product over the row, where that says it. For zeros and NaNs
/// it does not: their others are the product of what is neither, times 0 if
/// there is a zero among them, NaN if there is a NaN.
///
///   2 0 3, product 0: others 0 / 2, 2 * 3, 0 / 3
static LoweredTensor productOfOthers(LowerCall &c, const Segments &segments,
                                     LoweredTensor data, LoweredTensor output,
                                     double initial) {
  Ints sizes = data.dims();
  DType dtype = data.dtype;
  auto isZero = [](ScalarBuilder &s, Value x) -> Value {
    return s.cmp(Cmp::Eq, x, s.zero(x));
  };
  auto folded = [&](Fold fold, DType type,
                    llvm::function_ref<Value(ScalarBuilder &, Value)> of) {
    Updates u = intoSegments(c, segments, sizes, type);
    u.fold = fold;
    u.start = c.filled(u.sizes, type, fold == Fold::Product ? initial : 0);
    u.values =
        c.pointwise(data, sizes, type, [&](ScalarBuilder &s, ValueRange v) {
          return of(s, v[0]);
        });
    return ofSegment(c, segments, foldUpdates(c, u), sizes);
  };
  LoweredTensor proper =
      folded(Fold::Product, dtype, [&](ScalarBuilder &s, Value x) -> Value {
        Value counts =
            arith::OrIOp::create(s.b, s.loc, isZero(s, x), isNan(s, x));
        return s.select(counts, s.one(x), x);
      });
  LoweredTensor zeros =
      folded(Fold::Sum, DType::I64, [&](ScalarBuilder &s, Value x) {
        return s.cast(isZero(s, x), DType::Bool, DType::I64);
      });
  LoweredTensor nans =
      folded(Fold::Sum, DType::I64, [&](ScalarBuilder &s, Value x) {
        return s.cast(isNan(s, x), DType::Bool, DType::I64);
      });
  return c.pointwise(
      {data, output, proper, zeros, nans}, sizes, dtype,
      [&](ScalarBuilder &s, ValueRange v) {
        Value x = v[0], zero = isZero(s, x), nan = isNan(s, x);
        auto others = [&](Value count, Value own) {
          Value rest = s.sub(count, s.cast(own, DType::Bool, DType::I64));
          return s.cmp(Cmp::Gt, rest, s.zero(rest));
        };
        Value exclusive =
            s.select(others(v[3], zero), s.mul(v[2], s.zero(x)), v[2]);
        Value quietNan =
            s.constant(x.getType(), std::numeric_limits<double>::quiet_NaN());
        exclusive = s.select(others(v[4], nan), quietNan, exclusive);
        Value special = arith::OrIOp::create(s.b, s.loc, zero, nan);
        return s.select(special, exclusive, s.div(v[1], x));
      });
}

/// (grad, output, data, reduce, *, lengths, offsets, axis, initial): each row
/// takes from the segment that it is in.
static LogicalResult segmentReduceBackward(LowerCall &c) {
  StringRef how = c.call().args[3].str;
  DType dtype = opmathType(c.operand(2).dtype);
  LoweredTensor grad = c.cast(c.operand(0), dtype);
  LoweredTensor output = c.cast(c.operand(1), dtype);
  LoweredTensor data = c.cast(c.operand(2), dtype);
  Ints sizes = data.dims();
  std::optional<Segments> segments =
      c.integer(6) == 0 ? segmentsFrom(c, 4, 5, sizes[0]) : std::nullopt;
  if (!segments)
    return c.unsupported("segments of an inner dim");
  DType result = c.resultMeta(0).dtype;
  if (segments->count.is(0) || hasNoElements(sizes)) {
    c.setResult(0, c.filled(sizes, result, 0));
    return success();
  }
  auto rows = [&](LoweredTensor of) {
    return ofSegment(c, *segments, of, sizes);
  };
  SmallVector<LoweredTensor> ins = {rows(grad)};
  bool extreme = how == "max" || how == "min";
  if (extreme) {
    // Extremes of one segment share its gradient, if that is positive: as
    // PyTorch's kernel has it.
    LoweredTensor hit = c.pointwise({data, rows(output)}, sizes, DType::Bool,
                                    [](ScalarBuilder &s, ValueRange v) {
                                      return isExtreme(s, v[0], v[1]);
                                    });
    Updates u = intoSegments(c, *segments, sizes, dtype);
    u.fold = Fold::Sum;
    u.values = hit;
    ins.push_back(hit);
    ins.push_back(rows(foldUpdates(c, u)));
  } else if (how == "mean") {
    ins.push_back(rows(lengthsOf(c, *segments, data.rank())));
  } else if (how == "prod") {
    ins.push_back(productOfOthers(c, *segments, data, rows(output),
                                  c.isNone(7) ? 1 : c.number(7)));
  }
  Ints column(data.rank(), 1);
  column[0] = sizes[0];
  ins.push_back(c.reshape(segments->of, column));
  LoweredTensor y =
      c.pointwise(ins, sizes, dtype, [&](ScalarBuilder &s, ValueRange v) {
        Value g = v[0], segment = v.back();
        if (extreme)
          g = s.select(
              v[1], s.select(s.cmp(Cmp::Gt, g, s.zero(g)), s.div(g, v[2]), g),
              s.zero(g));
        else if (how == "mean")
          g = s.div(g, s.cast(v[1], DType::I64, dtype));
        else if (how == "prod")
          g = s.mul(g, v[1]);
        return s.select(s.cmp(Cmp::Ge, segment, s.zero(segment)), g, s.zero(g));
      });
  c.setResult(0, c.cast(y, result));
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
    anyShape("_segment_reduce_backward.default", segmentReduceBackward),
    anyShape("renorm.default", renorm),
    anyShape("segment_reduce.default", segmentReduce),
};

ArrayRef<LowerRuleRow> segmentReduceLowerRules() { return kRows; }

} // namespace ft
