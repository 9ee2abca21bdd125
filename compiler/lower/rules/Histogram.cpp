//===- Histogram.cpp - Lowering of histograms -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bin b counts (or adds the weights of) the elements from edge b up to edge
// b + 1, the last bin with its upper edge. Edges are given, or divide a range
// evenly: a given one, or that of the data, half a unit wider on both sides if
// it is a point. Each element looks for its bin among the edges.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Search.h"
#include "compiler/lower/rules/Updates.h"

#include <limits>

using namespace mlir;

namespace ft {

using Sizes = Dims;
using Cmp = ScalarBuilder::Cmp;

/// The smallest or largest element of column d of x [n, columns], 0-dim.
static LoweredTensor extremeOf(LowerCall &c, LoweredTensor x, int64_t d,
                               bool largest) {
  double start = std::numeric_limits<double>::infinity();
  return c.reduce(c.slice(x, 1, d, 1), {0, 1}, false, x.dtype,
                  largest ? -start : start,
                  [&](ScalarBuilder &s, Value e, Value a) {
                    return largest ? s.maximum(e, a) : s.minimum(e, a);
                  });
}

namespace {
/// A range as values of a body.
struct Range {
  Value low, high;
};
using RangeOf = std::function<Range(ScalarBuilder &)>;
} // namespace

/// `low` and `high` if they differ, else the range of column d of the data,
/// which must be finite; 0 to 1 without data.
static RangeOf rangeOf(LowerCall &c, LoweredTensor x, int64_t d, double low,
                       double high, double margin) {
  Type type = computeType(c.context(), x.dtype);
  Dim n = x.dims()[0];
  if (low == high && n.is(0)) {
    low = 0;
    high = 1;
  }
  if (low != high)
    return [=](ScalarBuilder &s) {
      return Range{s.constant(type, low), s.constant(type, high)};
    };
  LoweredTensor least = extremeOf(c, x, d, false);
  LoweredTensor most = extremeOf(c, x, d, true);
  c.newGroup();
  c.checkValue(c.pointwise({least, most}, {}, DType::Bool,
                           [&](ScalarBuilder &s, ValueRange v) {
                             // Only a finite number is 0 less than itself.
                             auto finite = [&](Value e) {
                               Value rest = s.sub(e, e);
                               return s.cmp(Cmp::Eq, rest, s.zero(rest));
                             };
                             Value fits = s.mul(finite(v[0]), finite(v[1]));
                             if (n.isStatic())
                               return fits;
                             Value size = c.sizeIn(s, n, DType::I64);
                             Value none = s.cmp(Cmp::Eq, size, s.zero(size));
                             return s.select(none, none, fits);
                           }),
               "the range of its data is not finite");
  return [=, &c](ScalarBuilder &s) {
    Value a = readAt(s, least, {}), b = readAt(s, most, {});
    if (!n.isStatic()) {
      Value count = c.sizeIn(s, n, DType::I64);
      Value none = s.cmp(Cmp::Eq, count, s.zero(count));
      a = s.select(none, s.zero(a), a);
      b = s.select(none, s.one(b), b);
    }
    Value point = s.cmp(Cmp::Eq, a, b);
    Value wider = s.constant(a.getType(), margin);
    return Range{s.select(point, s.sub(a, wider), a),
                 s.select(point, s.add(b, wider), b)};
  };
}

/// bins + 1 edges, each half counted from its own end.
static LoweredTensor evenEdges(LowerCall &c, DType dtype, const RangeOf &range,
                               int64_t bins) {
  LoweredTensor edges =
      generate(c, {bins + 1}, dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        Range r = range(s);
        Type type = r.low.getType();
        Value i = fromIndex(s, at[0], dtype);
        Value n = s.constant(type, static_cast<double>(bins));
        Value step = s.div(s.sub(r.high, r.low), n);
        Value left = s.add(r.low, s.mul(step, i));
        Value right = s.sub(r.high, s.mul(step, s.sub(n, i)));
        Value half = s.constant(type, static_cast<double>((bins + 1) / 2));
        return s.select(s.cmp(Cmp::Lt, i, half), left, right);
      });
  c.newGroup();
  return edges;
}

/// Adds `weight` (or 1) to the bin, of `bins`, that each of the n elements is
/// in; those in bin -1 are left out.
static LoweredTensor addToBins(LowerCall &c, LoweredTensor bin, Dim bins,
                               std::optional<LoweredTensor> weight,
                               DType dtype) {
  Updates u;
  u.fold = Fold::Sum;
  u.sizes = {bins};
  u.dtype = dtype;
  u.loops = 1;
  u.from = {{UpdatePlace::Index, 0}};
  u.values = weight ? *weight : c.filled({}, dtype, 1);
  u.indices = {bin};
  u.skip = -1;
  return foldUpdates(c, u);
}

/// The histogram of the rows of x [n, columns]; `weight` [n] may be missing.
static LoweredTensor count(LowerCall &c, LoweredTensor x,
                           ArrayRef<LoweredTensor> edges,
                           std::optional<LoweredTensor> weight, bool density) {
  DType dtype = x.dtype;
  Sizes sizes;
  Dim bins = 1, n = x.dims()[0];
  for (const LoweredTensor &e : edges) {
    sizes.push_back(e.dims()[0] - 1);
    bins = bins * sizes.back();
  }
  auto rank = static_cast<unsigned>(sizes.size());
  if (bins.is(0))
    return c.filled(sizes, dtype, 0);
  LoweredTensor bin =
      generate(c, {n}, DType::I64, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        Type index = s.b.getIndexType();
        Value place = s.constantInt(index, 0), inside;
        for (unsigned d = 0; d < rank; ++d) {
          auto edge = [&](Value i) { return readAt(s, edges[d], i); };
          Value last = sizeIndex(c, s, sizes[d]);
          Value e = readAt(s, x, {at[0], s.constantInt(index, d)});
          Value in = s.mul(s.cmp(Cmp::Ge, e, edge(s.constantInt(index, 0))),
                           s.cmp(Cmp::Le, e, edge(last)));
          inside = inside ? s.mul(inside, in) : in;
          // The upper edge of the last bin is in it.
          Value b = s.sub(
              s.minimum(binarySearch(c, s, e, sizes[d] + 1, true, dtype, edge),
                        last),
              s.constantInt(index, 1));
          place = s.add(s.mul(place, sizeIndex(c, s, sizes[d])), b);
        }
        Value flat = fromIndex(s, place, DType::I64);
        return s.select(inside, flat, s.constantInt(flat.getType(), -1));
      });
  LoweredTensor result =
      c.reshape(addToBins(c, bin, bins, weight, dtype), sizes);
  if (!density)
    return result;
  c.newGroup();
  SmallVector<unsigned> all;
  for (unsigned d = 0; d < rank; ++d)
    all.push_back(d);
  LoweredTensor total =
      c.reduce(result, all, false, dtype, 0,
               [](ScalarBuilder &s, Value e, Value a) { return s.add(e, a); });
  c.newGroup();
  return generateFrom(
      c, result, sizes, dtype,
      [&](ScalarBuilder &s, ValueRange v, ArrayRef<Value> where) {
        Value y = s.div(v[0], readAt(s, total, {}));
        for (unsigned d = 0; d < rank; ++d) {
          Value next = s.add(where[d], s.constantInt(where[d].getType(), 1));
          y = s.div(y, s.sub(readAt(s, edges[d], next),
                             readAt(s, edges[d], where[d])));
        }
        return y;
      });
}

/// The operand as [n, columns]; vectors and numbers have one column.
static LoweredTensor rows(LowerCall &c, int64_t columns) {
  return c.reshape(c.operand(0),
                   {floorDiv(c.meta(0).numel(), columns), Dim(columns)});
}

static std::optional<LoweredTensor> weightOf(LowerCall &c, unsigned arg) {
  if (c.isNone(arg))
    return std::nullopt;
  return c.reshape(c.operand(arg), {c.meta(arg).numel()});
}

static double rangeEnd(LowerCall &c, unsigned arg, size_t i) {
  const Arg &a = c.call().args[arg];
  if (a.kind != Arg::List || i >= a.list.size())
    return 0;
  c.noteRead(arg, a.list[i]);
  return a.list[i].kind == Arg::Int ? static_cast<double>(a.list[i].dim.value())
                                    : a.list[i].real;
}

/// Even edges for every column.
static SmallVector<LoweredTensor> edgesOf(LowerCall &c, LoweredTensor x,
                                          ArrayRef<int64_t> bins,
                                          unsigned rangeArg) {
  SmallVector<LoweredTensor> edges;
  for (auto [d, n] : llvm::enumerate(bins))
    edges.push_back(evenEdges(c, x.dtype,
                              rangeOf(c, x, static_cast<int64_t>(d),
                                      rangeEnd(c, rangeArg, 2 * d),
                                      rangeEnd(c, rangeArg, 2 * d + 1), 0.5),
                              n));
  return edges;
}

static LogicalResult histogramCount(LowerCall &c) {
  LoweredTensor x = rows(c, 1);
  SmallVector<LoweredTensor> edges = edgesOf(c, x, c.integer(1), 2);
  c.setResult(0, count(c, x, edges, weightOf(c, 3), c.flag(4)));
  c.setResult(1, edges[0]);
  return success();
}

static LogicalResult histogramBins(LowerCall &c) {
  LoweredTensor edges = c.operand(1);
  c.setResult(0, count(c, rows(c, 1), edges, weightOf(c, 2), c.flag(3)));
  c.setResult(1, edges);
  return success();
}

static LogicalResult histogramddEdges(LowerCall &c) {
  SmallVector<int64_t, 6> bins = c.integers(1);
  LoweredTensor x = rows(c, static_cast<int64_t>(bins.size()));
  for (auto [d, e] : llvm::enumerate(edgesOf(c, x, bins, 2)))
    c.setResult(d, e);
  return success();
}

static LogicalResult histogramddCount(LowerCall &c) {
  SmallVector<int64_t, 6> bins = c.integers(1);
  LoweredTensor x = rows(c, static_cast<int64_t>(bins.size()));
  c.setResult(0,
              count(c, x, edgesOf(c, x, bins, 2), weightOf(c, 3), c.flag(4)));
  return success();
}

static SmallVector<LoweredTensor> givenEdges(LowerCall &c) {
  SmallVector<LoweredTensor> edges;
  for (Value v : c.call().tensors(1))
    edges.push_back(c.operandOf(v));
  return edges;
}

static LogicalResult histogramddBins(LowerCall &c) {
  SmallVector<LoweredTensor> edges = givenEdges(c);
  LoweredTensor x = rows(c, static_cast<int64_t>(edges.size()));
  c.setResult(0, count(c, x, edges, weightOf(c, 2), c.flag(3)));
  return success();
}

/// The histogram and its edges: (self, bins, …, weight, density).
static LogicalResult withEdges(LowerCall &c, LoweredTensor x,
                               ArrayRef<LoweredTensor> edges, unsigned weight) {
  c.setResult(0, count(c, x, edges, weightOf(c, weight), c.flag(weight + 1)));
  for (auto [d, e] : llvm::enumerate(edges))
    c.setResult(static_cast<unsigned>(d) + 1, e);
  return success();
}

/// One number of bins for each column, or one for all of them.
static LogicalResult histogramdd(LowerCall &c) {
  Dim given = c.operand(0).dims().back();
  if (!given.isStatic())
    return c.unsupported("a number of columns that is only known at run time");
  int64_t columns = given.value();
  SmallVector<int64_t, 6> bins(columns, 0);
  if (c.call().args[1].kind == Arg::Int)
    bins.assign(columns, c.integer(1));
  else
    bins = c.integers(1);
  LoweredTensor x = rows(c, columns);
  return withEdges(c, x, edgesOf(c, x, bins, 2), 3);
}

static LogicalResult histogramddOfEdges(LowerCall &c) {
  SmallVector<LoweredTensor> edges = givenEdges(c);
  return withEdges(c, rows(c, static_cast<int64_t>(edges.size())), edges, 3);
}

/// Bins by position in the range, which rounds unlike a comparison with edges.
static LogicalResult histc(LowerCall &c) {
  int64_t bins = c.integer(1);
  Dim n = c.meta(0).numel();
  LoweredTensor x = rows(c, 1);
  DType dtype = x.dtype;
  if (!isFloating(dtype))
    return c.unsupported("integers");
  if (n.is(0)) {
    c.setResult(0, c.filled({bins}, dtype, 0));
    return success();
  }
  RangeOf range = rangeOf(c, x, 0, c.number(2), c.number(3), 1);
  DType work = opmathType(dtype);
  LoweredTensor bin = c.pointwise(
      c.reshape(x, {n}), {n}, DType::I64, [&](ScalarBuilder &s, ValueRange v) {
        Range r = range(s);
        Value e = v[0];
        Value width = s.sub(r.high, r.low);
        Value count = s.constant(e.getType(), static_cast<double>(bins));
        Value inside =
            s.mul(s.cmp(Cmp::Ge, e, r.low), s.cmp(Cmp::Le, e, r.high));
        Value safe = s.select(inside, e, r.low);
        Value p = s.div(s.mul(s.sub(safe, r.low), count), width);
        Value whole =
            s.minimum(s.cast(s.cast(p, dtype, work), work, DType::I64),
                      s.constantInt(s.b.getI64Type(), bins - 1));
        return s.select(inside, whole, s.constantInt(whole.getType(), -1));
      });
  c.setResult(0, addToBins(c, bin, bins, std::nullopt, dtype));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("histc.default", histc),
    anyShape("histogram.bin_ct", histogramCount),
    anyShape("histogram.bins_tensor", histogramBins),
    anyShape("histogramdd.TensorList_bins", histogramddOfEdges),
    anyShape("histogramdd.default", histogramdd),
    anyShape("histogramdd.int_bins", histogramdd),
    anyShape("_histogramdd_bin_edges.default", histogramddEdges),
    anyShape("_histogramdd_from_bin_cts.default", histogramddCount),
    anyShape("_histogramdd_from_bin_tensors.default", histogramddBins),
};

ArrayRef<LowerRuleRow> histogramLowerRules() { return kRows; }

} // namespace ft
