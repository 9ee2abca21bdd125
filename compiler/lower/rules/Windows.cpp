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
    WindowDim d{sizes[i].value(), counts[i].value(), kernel[i]};
    d.stride = stride[i];
    d.low = padding[i];
    d.dilation = dilation[i];
    dims.push_back(d);
  }
  return dims;
}

WindowDim adaptiveWindows(int64_t size, int64_t count) {
  WindowDim d{size, count, 0};
  d.adaptive = true;
  for (int64_t o = 0; o < count; ++o)
    d.length = std::max(d.length, d.adaptiveEnd(o) - d.startOf(o));
  return d;
}

bool isUniform(const WindowDim &d) {
  for (int64_t o = 0; d.adaptive && o < d.count; ++o)
    if (d.adaptiveEnd(o) - d.startOf(o) != d.length)
      return false;
  return true;
}

static Value number(ScalarBuilder &s, int64_t v) {
  return s.constantInt(s.b.getI64Type(), v);
}

/// Where window `o` starts, in the unpadded operand.
static Value startOf(ScalarBuilder &s, const WindowDim &d, Value o) {
  if (d.adaptive)
    return s.div(s.mul(o, number(s, d.size)), number(s, d.count));
  return s.sub(s.mul(o, number(s, d.stride)), number(s, d.low));
}

/// Where adaptive window `o` ends.
static Value adaptiveEnd(ScalarBuilder &s, const WindowDim &d, Value o) {
  Value next = s.add(o, number(s, 1));
  return s.div(s.add(s.mul(next, number(s, d.size)), number(s, d.count - 1)),
               number(s, d.count));
}

std::pair<Value, Value> boundsOf(ScalarBuilder &s, const WindowDim &d,
                                 Value o) {
  Value start = startOf(s, d, o);
  return {start, d.adaptive ? adaptiveEnd(s, d, o)
                            : s.add(start, number(s, d.length))};
}

Value WindowStep::position(unsigned i) {
  const WindowDim &d = dims[i];
  Value tap = loopIndex(s, tapLoops[i]);
  return s.add(startOf(s, d, loopIndex(s, windowLoops[i])),
               s.mul(tap, number(s, d.dilation)));
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
      Value end = adaptiveEnd(s, d, loopIndex(s, windowLoops[i]));
      require(s.cmp(Cmp::Lt, at, end));
      continue;
    }
    require(s.cmp(Cmp::Ge, at, number(s, 0)));
    require(s.cmp(Cmp::Lt, at, number(s, d.size)));
  }
  return all;
}

Value WindowStep::flatPosition() {
  Value flat;
  for (unsigned i = 0; i < dims.size(); ++i) {
    Value at = position(i);
    flat = flat ? s.add(s.mul(flat, number(s, dims[i].size)), at) : at;
  }
  return flat;
}

SmallVector<LoweredTensor> reduceWindows(LowerCall &c, LoweredTensor x,
                                         ArrayRef<WindowDim> dims,
                                         double padding, ArrayRef<Start> starts,
                                         WindowBody body) {
  unsigned rank = x.rank(), space = static_cast<unsigned>(dims.size());
  unsigned lead = rank - space;
  SmallVector<int64_t, 6> low(rank, 0), high(rank, 0);
  Dims outSizes = x.dims();
  for (unsigned i = 0; i < space; ++i) {
    const WindowDim &d = dims[i];
    low[lead + i] = d.low;
    int64_t end = 0;
    for (int64_t o = 0; o < d.count; ++o)
      end = std::max(end, d.startOf(o) + (d.length - 1) * d.dilation + 1);
    high[lead + i] = std::max<int64_t>(end - d.size, 0);
    outSizes[lead + i] = d.count;
  }
  DType dtype = x.dtype;
  x = c.pad(x, low, high, padding);

  // Windows in the physical order of the image, then taps.
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  iterators.append(space, Iterator::Reduction);
  SmallVector<unsigned> loops(rank), tapLoops;
  for (unsigned p = 0; p < rank; ++p)
    loops[x.order[p]] = p;
  Access image{x, {}}, taps;
  SmallVector<AffineExpr, 6> outIndex;
  SmallVector<int64_t, 6> tapSizes;
  for (unsigned j = 0; j < rank; ++j) {
    AffineExpr e = c.dim(loops[j]);
    outIndex.push_back(e);
    if (j >= lead) {
      const WindowDim &d = dims[j - lead];
      AffineExpr start =
          d.adaptive ? (e * d.size).floorDiv(d.count) : e * d.stride;
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
  return c.generic(
      {image, taps}, outs, iterators, [&](ScalarBuilder &s, ValueRange v) {
        WindowStep step{s, dims, v[0], v.drop_front(2), windowLoops, tapLoops};
        return body(step);
      });
}

} // namespace ft
