//===- PoolBackward.cpp - Lowering of gradients of pools -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels gather: the gradient of an element is the sum over the windows that
// may hold it. (Only adaptive maxima are sent where their positions say.)
//
//   strided    windows o with o * stride - low <= i, the last few of them:
//              o = (i + low) / stride - j,  j = 0, 1, …
//   adaptive   windows from i * count / size on: o = i * count / size + j
//
// A window counts if it really holds the element (average), or if its recorded
// position is the element's (maximum). The gradient is padded so that every
// candidate can be read.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Updates.h"
#include "compiler/lower/rules/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

using Ints = Dims;
using Cmp = ScalarBuilder::Cmp;

namespace {

/// What the body of a gather sees for one element and one candidate window.
struct GatherStep {
  ScalarBuilder &s;
  SmallVector<Value> values;
  /// Position of the element, number of the window (i64), by spatial dim.
  SmallVector<Value> at, window;
};

} // namespace

/// How many windows may hold one element.
static Dim candidates(const WindowDim &d) {
  if (!d.adaptive)
    return ceilDiv((d.length - 1) * Dim(d.dilation) + 1, d.stride);
  // Window o holds element i if both lie over one place of a line: the roles of
  // windows and elements can be exchanged.
  return maxDim(adaptiveWindows(d.count, d.size).length, 1);
}

/// Sums body(step) over the candidates; `ins` are gradients and what goes with
/// them, one element for each window.
static LoweredTensor
gatherWindows(LowerCall &c, ArrayRef<LoweredTensor> ins, ArrayRef<double> fills,
              ArrayRef<WindowDim> dims, DType sum,
              llvm::function_ref<Value(GatherStep &)> body) {
  unsigned rank = ins[0].rank(), space = static_cast<unsigned>(dims.size());
  unsigned lead = rank - space;
  SmallVector<unsigned, 6> order = ins[0].order;
  SmallVector<unsigned> loops(rank);
  for (unsigned p = 0; p < rank; ++p)
    loops[order[p]] = p;
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  iterators.append(space, Iterator::Reduction);

  Ints low(rank, 0), high(rank, 0), outSizes = ins[0].dims(), tapSizes;
  // Adaptive windows of the run are where no affine map can say.
  bool readsByPosition = llvm::any_of(
      dims, [](const WindowDim &d) { return d.adaptive && !d.isStatic(); });
  SmallVector<AffineExpr, 6> index, outIndex;
  Access taps;
  for (unsigned j = 0; j < rank; ++j) {
    AffineExpr e = c.dim(loops[j]);
    outIndex.push_back(e);
    if (j >= lead) {
      const WindowDim &d = dims[j - lead];
      Dim count = candidates(d);
      AffineExpr tap = c.dim(rank + j - lead);
      taps.index.push_back(tap);
      tapSizes.push_back(count);
      Dim last;
      if (d.adaptive) {
        if (!readsByPosition)
          e = (e * d.count.value()).floorDiv(d.size.value()) + tap;
        last = floorDiv((d.size - 1) * d.count, d.size) + count - 1;
      } else {
        low[j] = count - 1;
        e = (e + d.low).floorDiv(d.stride) - tap + (count - 1).value();
        last = floorDiv(d.size - 1 + d.low, d.stride);
      }
      high[j] = maxDim(last - (d.count - 1), 0);
      outSizes[j] = d.size;
    }
    index.push_back(e);
  }
  taps.tensor = c.empty(tapSizes, sum);
  SmallVector<Access> accesses;
  SmallVector<LoweredTensor> images;
  for (auto [t, fill] : llvm::zip(ins, fills)) {
    images.push_back(c.toOrder(t, order));
    if (!readsByPosition)
      accesses.push_back({c.pad(images.back(), low, high, fill), index});
  }
  accesses.push_back(taps);
  Ints physical;
  for (unsigned logical : order)
    physical.push_back(outSizes[logical]);
  LoweredTensor init = c.filled(physical, sum, 0);
  init.order = order;
  init.setDims(outSizes);
  return c.generic(
      accesses, Access{init, outIndex}, iterators,
      [&](ScalarBuilder &s, ValueRange v) {
        auto number = [&](Dim n) { return c.sizeIn(s, n, DType::I64); };
        GatherStep step{s, {}, {}, {}};
        for (auto [i, d] : llvm::enumerate(dims)) {
          Value at = loopIndex(s, loops[lead + i]);
          Value tap = loopIndex(s, rank + static_cast<unsigned>(i));
          step.at.push_back(at);
          step.window.push_back(
              d.adaptive
                  ? s.add(s.div(s.mul(at, number(d.count)), number(d.size)),
                          tap)
                  : s.sub(s.div(s.add(at, number(d.low)), number(d.stride)),
                          tap));
        }
        if (!readsByPosition) {
          llvm::append_range(step.values, v.take_front(ins.size()));
          return SmallVector<Value>{s.add(v.back(), body(step))};
        }
        SmallVector<Value> from;
        for (unsigned j = 0; j < lead; ++j)
          from.push_back(loopIndex(s, loops[j]));
        Value exists;
        for (auto [i, d] : llvm::enumerate(dims)) {
          Value last = number(d.count - 1), zero = s.zero(last);
          from.push_back(s.minimum(s.maximum(step.window[i], zero), last));
          Value here = s.cmp(Cmp::Eq, from.back(), step.window[i]);
          exists = exists ? s.mul(exists, here) : here;
        }
        for (auto [t, fill] : llvm::zip(images, fills)) {
          Value e = elementAt(s, t, from);
          step.values.push_back(
              s.select(exists, e, s.constant(e.getType(), fill)));
        }
        return SmallVector<Value>{s.add(v.back(), body(step))};
      })[0];
}

/// Whether the window holds the element, by position alone (dilation 1).
static Value holds(LowerCall &c, GatherStep &g, ArrayRef<WindowDim> dims) {
  ScalarBuilder &s = g.s;
  Value all;
  for (auto [i, d] : llvm::enumerate(dims)) {
    Value at = g.at[i];
    auto [start, end] = boundsOf(c, s, d, g.window[i]);
    for (Value condition : {s.cmp(Cmp::Ge, at, start), s.cmp(Cmp::Lt, at, end)})
      all = all ? Value(arith::AndIOp::create(s.b, s.loc, all, condition))
                : condition;
  }
  return all;
}

/// (grad, self, kernel, stride, padding, …).
static SmallVector<WindowDim> windowsOf(LowerCall &c, unsigned space,
                                        int dilationArg) {
  return stridedWindows(c, 2, dilationArg, c.operand(1).dims(),
                        c.operand(0).dims(), space);
}

static SmallVector<WindowDim> adaptiveOf(LowerCall &c, unsigned space) {
  Ints sizes = c.operand(1).dims(), counts = c.operand(0).dims();
  unsigned lead = static_cast<unsigned>(sizes.size()) - space;
  SmallVector<WindowDim> dims;
  for (unsigned i = 0; i < space; ++i)
    dims.push_back(adaptiveWindows(sizes[lead + i], counts[lead + i]));
  return dims;
}

/// Each window's gradient goes to the element whose flat position it recorded.
static LogicalResult maxGradient(LowerCall &c, ArrayRef<WindowDim> dims,
                                 unsigned indicesArg) {
  LoweredTensor grad = c.operand(0), positions = c.operand(indicesArg);
  DType from = grad.dtype, sum = opmathType(from);
  LoweredTensor dx = gatherWindows(
      c, {grad, positions}, {0, -1}, dims, sum, [&](GatherStep &g) {
        ScalarBuilder &s = g.s;
        Value flat;
        for (auto [i, d] : llvm::enumerate(dims))
          flat = flat ? s.add(s.mul(flat, c.sizeIn(s, d.size, DType::I64)),
                              g.at[i])
                      : g.at[i];
        Value v = s.cast(g.values[0], from, sum);
        return s.select(s.cmp(Cmp::Eq, g.values[1], flat), v, s.zero(v));
      });
  c.setResult(0, c.cast(dx, c.resultMeta(0).dtype));
  return success();
}

/// Each window's gradient, divided by what the window counts, goes to all of
/// its elements.
static LogicalResult avgGradient(LowerCall &c, ArrayRef<WindowDim> dims,
                                 bool countPadding,
                                 std::optional<int64_t> divisor) {
  LoweredTensor grad = c.operand(0);
  DType from = grad.dtype, sum = opmathType(from);
  LoweredTensor dx = gatherWindows(c, grad, 0.0, dims, sum, [&](GatherStep &g) {
    ScalarBuilder &s = g.s;
    Value v = s.cast(g.values[0], from, sum), by;
    for (auto [i, d] : llvm::enumerate(dims)) {
      Value count = elementsOf(c, s, d, g.window[i], countPadding);
      by = by ? s.mul(by, count) : count;
    }
    Value count = divisor ? s.constantInt(v.getType(), *divisor)
                          : s.cast(by, DType::I64, sum);
    return s.select(holds(c, g, dims), s.div(v, count), s.zero(v));
  });
  c.setResult(0, c.cast(dx, c.resultMeta(0).dtype));
  return success();
}

/// (grad, self, kernel, stride, padding, ceil_mode, count_include_pad,
/// divisor_override).
template <unsigned space>
static LogicalResult avgPool(LowerCall &c) {
  std::optional<int64_t> divisor;
  if (!c.isNone(7))
    divisor = c.integer(7);
  return avgGradient(c, windowsOf(c, space, -1), c.flag(6), divisor);
}

template <unsigned space>
static LogicalResult adaptiveAvg(LowerCall &c) {
  return avgGradient(c, adaptiveOf(c, space), true, std::nullopt);
}

/// (grad, self, kernel, stride, padding, dilation, ceil_mode, indices).
template <unsigned space>
static LogicalResult maxPool(LowerCall &c) {
  return maxGradient(c, windowsOf(c, space, 5), 7);
}

/// (grad, self, indices). Windows of different lengths share elements: here the
/// gradients are sent, not gathered.
template <unsigned space>
static LogicalResult adaptiveMax(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, foldAtPositions(c, c.operand(0), c.operand(2), dimsOf(meta),
                                 space, Fold::Sum, meta.dtype));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_adaptive_avg_pool2d_backward.default", adaptiveAvg<2>),
    anyShape("_adaptive_avg_pool3d_backward.default", adaptiveAvg<3>),
    anyShape("adaptive_max_pool2d_backward.default", adaptiveMax<2>),
    anyShape("adaptive_max_pool3d_backward.default", adaptiveMax<3>),
    anyShape("avg_pool2d_backward.default", avgPool<2>),
    anyShape("avg_pool3d_backward.default", avgPool<3>),
    anyShape("max_pool2d_with_indices_backward.default", maxPool<2>),
    anyShape("max_pool3d_with_indices_backward.default", maxPool<3>),
};

ArrayRef<LowerRuleRow> poolBackwardLowerRules() { return kRows; }

} // namespace ft
