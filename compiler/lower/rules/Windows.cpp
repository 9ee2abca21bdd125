//===- Windows.cpp - Reductions over sliding windows -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One generic: parallel over the windows, reduction over the taps. An operand
// that is never read gives the taps their extent. The image is padded so that
// every tap reads something; bodies that care ask where they are.

#include "compiler/lower/rules/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ft {

SmallVector<WindowDim> stridedWindows(LowerCall &c, unsigned first,
                                      int dilationArg, ArrayRef<Dim> sizes,
                                      ArrayRef<Dim> counts, unsigned space) {
  using Ints = SmallVector<int64_t, 6>;
  Ints kernel = c.integers(first, space);
  Ints stride =
      c.integers(first + 1).empty() ? kernel : c.integers(first + 1, space);
  Ints padding = c.integers(first + 2, space);
  Ints dilation(space, 1);
  if (dilationArg >= 0)
    dilation = c.integers(static_cast<unsigned>(dilationArg), space);
  sizes = sizes.take_back(space);
  counts = counts.take_back(space);
  SmallVector<WindowDim> dims;
  for (unsigned i = 0; i < space; ++i) {
    WindowDim d{sizes[i], counts[i], kernel[i]};
    d.stride = stride[i];
    d.low = padding[i];
    d.dilation = dilation[i];
    dims.push_back(d);
  }
  return dims;
}

WindowDim adaptiveWindows(Dim size, Dim count) {
  WindowDim d{size, count, 0};
  d.adaptive = true;
  if (count.is(1)) {
    d.length = size;
  } else if (d.isStatic()) {
    for (int64_t o = 0; o < count.value(); ++o)
      d.length = maxDim(d.length, d.adaptiveEnd(o) - d.startOf(o));
  } else {
    // Both ends are rounded outwards.
    d.length = ceilDiv(size, maxDim(count, 1)) + 1;
  }
  return d;
}

Dim WindowDim::reachBehind() const {
  Dim reach = (length - 1) * Dim(dilation) + 1;
  if (isStatic()) {
    Dim end = 0;
    for (int64_t o = 0; o < count.value(); ++o)
      end = maxDim(end, startOf(o) + reach);
    return maxDim(end - size, 0);
  }
  return maxDim(startOf(count - 1) + reach - size, 0);
}

bool isUniform(const WindowDim &d) {
  if (!d.adaptive || d.count.is(1))
    return true;
  if (!d.isStatic())
    return false;
  for (int64_t o = 0; o < d.count.value(); ++o)
    if (d.adaptiveEnd(o) - d.startOf(o) != d.length)
      return false;
  return true;
}

static Value number(LowerCall &c, ScalarBuilder &s, Dim v) {
  return c.sizeIn(s, v, DType::I64);
}

/// Where window `o` starts, in the unpadded operand.
static Value startOf(LowerCall &c, ScalarBuilder &s, const WindowDim &d,
                     Value o) {
  if (d.adaptive)
    return s.div(s.mul(o, number(c, s, d.size)), number(c, s, d.count));
  return s.sub(s.mul(o, number(c, s, d.stride)), number(c, s, d.low));
}

/// Where adaptive window `o` ends.
static Value adaptiveEnd(LowerCall &c, ScalarBuilder &s, const WindowDim &d,
                         Value o) {
  Value next = s.add(o, number(c, s, 1));
  return s.div(
      s.add(s.mul(next, number(c, s, d.size)), number(c, s, d.count - 1)),
      number(c, s, d.count));
}

std::pair<Value, Value> boundsOf(LowerCall &c, ScalarBuilder &s,
                                 const WindowDim &d, Value o) {
  Value start = startOf(c, s, d, o);
  return {start, d.adaptive ? adaptiveEnd(c, s, d, o)
                            : s.add(start, number(c, s, d.length))};
}

Value elementsOf(LowerCall &c, ScalarBuilder &s, const WindowDim &d, Value o,
                 bool countPadding) {
  auto [start, end] = boundsOf(c, s, d, o);
  if (!d.adaptive) {
    end = s.minimum(end, number(c, s, d.size + d.low));
    if (!countPadding) {
      start = s.maximum(start, number(c, s, 0));
      end = s.minimum(end, number(c, s, d.size));
    }
  }
  return s.sub(end, start);
}

Value WindowStep::position(unsigned i) {
  const WindowDim &d = dims[i];
  Value tap = loopIndex(s, tapLoops[i]);
  return s.add(startOf(c, s, d, loopIndex(s, windowLoops[i])),
               s.mul(tap, number(c, s, d.dilation)));
}

Value WindowStep::inside() {
  using Cmp = ScalarBuilder::Cmp;
  Value all;
  auto require = [&](Value condition) {
    all = all ? Value(arith::AndIOp::create(s.b, s.loc, all, condition))
              : condition;
  };
  for (unsigned i = 0; i < dims.size(); ++i) {
    const WindowDim &d = dims[i];
    Value at = position(i);
    if (d.adaptive) {
      Value end = adaptiveEnd(c, s, d, loopIndex(s, windowLoops[i]));
      require(s.cmp(Cmp::Lt, at, end));
      continue;
    }
    require(s.cmp(Cmp::Ge, at, number(c, s, 0)));
    require(s.cmp(Cmp::Lt, at, number(c, s, d.size)));
  }
  return all;
}

Value WindowStep::flatPosition() {
  Value flat;
  for (unsigned i = 0; i < dims.size(); ++i) {
    Value at = position(i);
    flat = flat ? s.add(s.mul(flat, number(c, s, dims[i].size)), at) : at;
  }
  return flat;
}

SmallVector<LoweredTensor> reduceWindows(LowerCall &c, LoweredTensor x,
                                         ArrayRef<WindowDim> dims,
                                         double padding, ArrayRef<Start> starts,
                                         WindowBody body) {
  unsigned rank = x.rank(), space = static_cast<unsigned>(dims.size());
  unsigned lead = rank - space;
  Dims low(rank, 0), high(rank, 0), outSizes = x.dims();
  // Adaptive windows of the run start where no affine map can say.
  bool readsByPosition = false;
  for (unsigned i = 0; i < space; ++i) {
    const WindowDim &d = dims[i];
    low[lead + i] = d.low;
    high[lead + i] = d.reachBehind();
    outSizes[lead + i] = d.count;
    readsByPosition |= d.adaptive && !d.isStatic() && !d.count.is(1);
  }
  DType dtype = x.dtype;
  if (!readsByPosition)
    x = c.pad(x, low, high, padding);

  // Windows in the physical order of the image, then taps.
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  iterators.append(space, Iterator::Reduction);
  SmallVector<unsigned> loops(rank), tapLoops;
  for (unsigned p = 0; p < rank; ++p)
    loops[x.order[p]] = p;
  Access image{x, {}}, taps;
  SmallVector<AffineExpr, 6> outIndex;
  Dims tapSizes;
  for (unsigned j = 0; j < rank; ++j) {
    AffineExpr e = c.dim(loops[j]);
    outIndex.push_back(e);
    if (j >= lead) {
      const WindowDim &d = dims[j - lead];
      AffineExpr start = e * d.stride;
      if (d.adaptive)
        start = d.isStatic() && !readsByPosition
                    ? (e * d.size.value()).floorDiv(d.count.value())
                    : c.constant(0); // the only window
      AffineExpr tap = c.dim(rank + j - lead);
      tapLoops.push_back(rank + j - lead);
      tapSizes.push_back(d.length);
      taps.index.push_back(tap);
      e = start + tap * d.dilation;
    }
    image.index.push_back(e);
  }
  taps.tensor = c.empty(tapSizes, dtype);
  Dims physical;
  for (unsigned logical : x.order)
    physical.push_back(outSizes[logical]);
  SmallVector<Access> outs;
  for (const Start &start : starts) {
    LoweredTensor t = filledWith(c, physical, start);
    t.order = x.order;
    t.setDims(outSizes);
    outs.push_back({t, outIndex});
  }
  ArrayRef<unsigned> windowLoops = ArrayRef<unsigned>(loops).drop_front(lead);
  if (readsByPosition)
    return c.generic(
        taps, outs, iterators, [&](ScalarBuilder &s, ValueRange v) {
          WindowStep step{c,           s,       dims, {}, v.drop_front(1),
                          windowLoops, tapLoops};
          SmallVector<Value> at;
          for (unsigned j = 0; j < lead; ++j)
            at.push_back(loopIndex(s, loops[j]));
          for (unsigned i = 0; i < space; ++i) {
            Value last = number(c, s, dims[i].size - 1);
            at.push_back(s.minimum(step.position(i), last));
          }
          step.element = elementAt(s, x, at);
          return body(step);
        });
  return c.generic(
      {image, taps}, outs, iterators, [&](ScalarBuilder &s, ValueRange v) {
        WindowStep step{c,           s,       dims, v[0], v.drop_front(2),
                        windowLoops, tapLoops};
        return body(step);
      });
}

} // namespace ft
