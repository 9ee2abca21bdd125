//===- Convolution.cpp - Convolutions as contractions ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every convolution becomes one contraction over channels-last data:
//
//   out[n, o, f] = sum over k, c of x[n, o * stride + k * dilation, c] * w[…]
//
// with the padding done before, the weights in panels of output channels, and
// the bias as a pointwise op after. Groups add a dim to all three; depthwise
// convolutions lose c. A transposed convolution of stride s is a convolution of
// stride 1 over an input with s - 1 zeros between its elements and a kernel
// that is turned around. Any number of spatial dims (1 to 3).

#include "compiler/lower/rules/Convolution.h"

#include "compiler/lower/Gather.h"

using namespace mlir;

namespace ft {

namespace {

/// The weights of one tap: where the logical coordinates (group, output channel
/// in the group, input channel in the group, taps…) lie in the source tensor.
class Weights {
public:
  Weights(LowerCall &c, Source source, const Convolution &conv)
      : c(c), source(std::move(source)), transposed(conv.transposed),
        groups(conv.groups) {
    Dims sizes = this->source.tensor.dims();
    kernel.assign(sizes.begin() + 2, sizes.end());
    outPerGroup = transposed ? sizes[1] : floorDiv(sizes[0], groups);
    inPerGroup = transposed ? floorDiv(sizes[0], groups) : sizes[1];
  }

  Dims kernel;
  Dim outPerGroup, inPerGroup;

  /// The operand of the contraction. `g` is null for one group; `taps` may be
  /// empty if there is only one tap; `f` and `in` are null for depthwise
  /// weights, where g runs over the channels.
  Access at(AffineExpr g, AffineExpr f, ArrayRef<AffineExpr> taps,
            AffineExpr in);

private:
  /// One physical dim of the operand: its size and what it adds to each source
  /// coordinate.
  struct Axis {
    Dim size;
    Dims coef;
    AffineExpr index;
  };
  Axis axis(Dim size, AffineExpr index) const {
    return {size, Dims(2 + kernel.size(), 0), index};
  }
  /// The source in the order of the axes, as it is at run time.
  LoweredTensor laidOut(ArrayRef<Axis> axes, ArrayRef<Dim> base);
  unsigned outDim() const { return transposed ? 1 : 0; }

  LowerCall &c;
  Source source;
  bool transposed;
  int64_t groups;
};

} // namespace

Access Weights::at(AffineExpr g, AffineExpr f, ArrayRef<AffineExpr> taps,
                   AffineExpr in) {
  const LoweredTensor &w = source.tensor;
  SmallVector<Axis> axes;
  Dims base(2 + kernel.size(), 0);
  auto groupAxis = [&] {
    Axis a = axis(groups, g);
    // Groups are blocks of the first dim of the source, whichever that is.
    a.coef[0] = transposed ? inPerGroup : outPerGroup;
    return a;
  };
  auto tapAxes = [&] {
    for (size_t i = 0; i < taps.size(); ++i) {
      Axis a = axis(kernel[i], taps[i]);
      a.coef[2 + i] = transposed ? -1 : 1;
      if (transposed)
        base[2 + i] = kernel[i] - 1;
      axes.push_back(a);
    }
  };
  bool constant = source.value && w.isStatic() && c.isConstant(source.value);
  if (!in) {
    tapAxes();
    axes.push_back(groupAxis());
  } else {
    int64_t width = c.panelWidth(w.dtype);
    Dim panel = constant ? Dim(width) : outPerGroup;
    if (g)
      axes.push_back(groupAxis());
    if (constant) {
      Axis a = axis(ceilDiv(outPerGroup, width), f.floorDiv(width));
      a.coef[outDim()] = width;
      axes.push_back(a);
    }
    tapAxes();
    Axis channels = axis(inPerGroup, in);
    channels.coef[1 - outDim()] = 1;
    axes.push_back(channels);
    Axis lanes = axis(panel, constant ? f % width : f);
    lanes.coef[outDim()] = 1;
    axes.push_back(lanes);
  }

  SmallVector<AffineExpr, 6> index;
  for (const Axis &a : axes)
    index.push_back(a.index);
  if (constant) {
    SmallVector<int64_t, 6> sizes, origin;
    SmallVector<SmallVector<int64_t>> coef(base.size());
    for (const Axis &a : axes)
      sizes.push_back(a.size.value());
    for (size_t j = 0; j < base.size(); ++j) {
      origin.push_back(base[j].value());
      for (const Axis &a : axes)
        coef[j].push_back(a.coef[j].value());
    }
    if (std::optional<LoweredTensor> packed =
            c.packed(source.value, sizes, coef, origin))
      return {*packed, index};
  }
  // Weights that change are laid out like this at run time: reading them as
  // they lie would stride over the taps for each output channel.
  LoweredTensor laid = laidOut(axes, base);
  c.newGroup();
  return {laid, index};
}

LoweredTensor Weights::laidOut(ArrayRef<Axis> axes, ArrayRef<Dim> base) {
  const LoweredTensor &w = source.tensor;
  Dims sizes;
  bool isAffine = llvm::all_of(base, [](Dim d) { return d.isStatic(); });
  for (const Axis &a : axes) {
    sizes.push_back(a.size);
    isAffine &= llvm::all_of(a.coef, [](Dim d) { return d.isStatic(); });
  }
  if (!isAffine)
    return generate(
        c, sizes, w.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
          SmallVector<Value> from;
          for (size_t j = 0; j < base.size(); ++j) {
            from.push_back(sizeIndex(c, s, base[j]));
            for (auto [i, axis] : llvm::zip(at, axes))
              if (!axis.coef[j].is(0))
                from[j] =
                    s.add(from[j], s.mul(i, sizeIndex(c, s, axis.coef[j])));
          }
          return readAt(s, w, from);
        });
  Access from{w, {}}, to{c.empty(sizes, w.dtype), {}};
  for (size_t j = 0; j < base.size(); ++j) {
    AffineExpr e = c.constant(base[j].value());
    for (size_t p = 0; p < axes.size(); ++p)
      e = e + c.dim(static_cast<unsigned>(p)) * axes[p].coef[j].value();
    from.index.push_back(e);
  }
  for (size_t p = 0; p < axes.size(); ++p)
    to.index.push_back(c.dim(static_cast<unsigned>(p)));
  SmallVector<Iterator> iterators(axes.size(), Iterator::Parallel);
  return c.generic(from, to, iterators, [](ScalarBuilder &, ValueRange v) {
    return SmallVector<Value>{v[0]};
  })[0];
}

/// {0, 2, …, rank-1, 1}: batch, space, channels.
static SmallVector<unsigned, 6> channelsLast(unsigned rank) {
  SmallVector<unsigned, 6> order = {0};
  for (unsigned d = 2; d < rank; ++d)
    order.push_back(d);
  order.push_back(1);
  return order;
}

/// Pads dims (negative: cuts them off). Logical dim 2 + i by low[i], high[i].
static LoweredTensor padSpace(LowerCall &c, LoweredTensor x, ArrayRef<Dim> low,
                              ArrayRef<Dim> high) {
  unsigned rank = x.rank();
  Dims before(rank, 0), after(rank, 0);
  for (unsigned i = 0; i + 2 < rank; ++i) {
    Dim size = x.dims()[2 + i];
    Dim cutLow = maxDim(low[i] * -1, 0), cutHigh = maxDim(high[i] * -1, 0);
    if (!cutLow.is(0) || !cutHigh.is(0))
      x = c.slice(x, 2 + i, cutLow, size - cutLow - cutHigh);
    before[2 + i] = maxDim(low[i], 0);
    after[2 + i] = maxDim(high[i], 0);
  }
  return c.pad(x, before, after, 0);
}

/// Puts stride - 1 zeros after each element of the spatial dims: physically
/// [n, h, w, c] -> [n, h, 1, w, 1, c], padded to [n, h, s, w, s, c], and seen
/// as [n, h * s, w * s, c].
static LoweredTensor spread(LowerCall &c, LoweredTensor x,
                            ArrayRef<int64_t> stride) {
  if (llvm::all_of(stride, [](int64_t s) { return s == 1; }))
    return x;
  SmallVector<unsigned, 6> order = x.order;
  Dims sizes = x.dims(), split, joined, logicalJoined = sizes, low, high;
  for (unsigned logical : order) {
    int64_t s = logical >= 2 ? stride[logical - 2] : 1;
    split.push_back(sizes[logical]);
    high.push_back(0);
    if (logical >= 2) {
      split.push_back(1);
      high.push_back(s - 1);
    }
    joined.push_back(sizes[logical] * Dim(s));
    logicalJoined[logical] = joined.back();
  }
  low.assign(split.size(), 0);
  x = c.reshape(c.pad(c.reshape(inMemoryOrder(x), split), low, high, 0),
                joined);
  x.order = order;
  x.setDims(logicalJoined);
  return x;
}

LoweredTensor convolve(LowerCall &c, LoweredTensor x, Source w,
                       const Convolution &conv) {
  Weights weights(c, std::move(w), conv);
  unsigned rank = x.rank(), space = rank - 2;
  LoweredTensor given = x;
  x = c.toOrder(x, channelsLast(rank));
  if (x.value != given.value)
    c.newGroup();

  SmallVector<int64_t, 6> stride = conv.stride;
  Dims low(conv.padding.begin(), conv.padding.end()), high = low;
  for (size_t i = 0; i < conv.extraPadding.size(); ++i)
    high[i] = high[i] + conv.extraPadding[i];
  if (conv.transposed) {
    x = spread(c, x, stride);
    for (unsigned i = 0; i < space; ++i) {
      Dim reach = Dim(conv.dilation[i]) * (weights.kernel[i] - 1);
      low[i] = reach - conv.padding[i];
      high[i] = low[i] + conv.outputPadding[i] - (stride[i] - 1);
      stride[i] = 1;
    }
  }
  Dims outSizes = {x.dims()[0]}, sizes = x.dims();
  for (unsigned i = 0; i < space; ++i) {
    Dim reach = Dim(conv.dilation[i]) * (weights.kernel[i] - 1);
    Dim extent =
        floorDiv(sizes[2 + i] + low[i] + high[i] - reach - 1, stride[i]) + 1;
    outSizes.push_back(extent);
    // Padding that no window reaches need not be there.
    Dim used = (extent - 1) * Dim(stride[i]) + reach + 1;
    Dim needed = used - sizes[2 + i] - low[i];
    if (needed.isStatic() && high[i].isStatic())
      high[i] =
          std::clamp(needed.value(), std::min<int64_t>(high[i].value(), 0),
                     high[i].value());
  }

  int64_t groups = conv.groups;
  Dim fPerGroup = weights.outPerGroup, cPerGroup = weights.inPerGroup;
  bool depthwise = groups > 1 && cPerGroup.is(1) && fPerGroup.is(1);
  bool grouped = groups > 1 && !depthwise;
  auto isOne = [](Dim v) { return v.is(1); };
  // A kernel of one tap and stride 1 is a plain matrix product.
  bool product =
      llvm::all_of(weights.kernel, isOne) && llvm::all_of(stride, isOne);

  SmallVector<Iterator> iterators;
  auto loop = [&](Iterator kind) {
    iterators.push_back(kind);
    return c.dim(static_cast<unsigned>(iterators.size() - 1));
  };
  SmallVector<AffineExpr, 6> xIndex, outIndex, taps;
  for (unsigned i = 0; i <= space; ++i)
    outIndex.push_back(loop(Iterator::Parallel));
  AffineExpr g, f, in;
  if (groups > 1) {
    g = loop(Iterator::Parallel);
    outIndex.push_back(g);
    outSizes.push_back(groups);
  }
  if (!depthwise) {
    f = loop(Iterator::Parallel);
    outIndex.push_back(f);
    outSizes.push_back(fPerGroup);
  }
  if (!product)
    for (unsigned i = 0; i < space; ++i)
      taps.push_back(loop(Iterator::Reduction));
  if (!depthwise)
    in = loop(Iterator::Reduction);
  Access b = weights.at(g, f, taps, in);

  // Channels are the last logical dim too from here on, split into groups.
  x = padSpace(c, x, low, high);
  SmallVector<unsigned> toLast = {0}, toSecond = {0, rank - 1};
  for (unsigned d = 2; d < rank; ++d) {
    toLast.push_back(d);
    toSecond.push_back(d - 1);
  }
  toLast.push_back(1);
  x = c.permute(x, toLast);
  if (grouped) {
    Dims split = x.dims();
    split.back() = groups;
    split.push_back(cPerGroup);
    x = c.reshape(x, split);
  }
  xIndex.push_back(outIndex[0]);
  for (unsigned i = 0; i < space; ++i) {
    AffineExpr at = outIndex[1 + i] * stride[i];
    xIndex.push_back(product ? at : at + taps[i] * conv.dilation[i]);
  }
  if (g)
    xIndex.push_back(g);
  if (in)
    xIndex.push_back(in);
  LoweredTensor y = contract(c, {x, xIndex}, b, outSizes, outIndex, iterators);
  if (grouped) {
    outSizes.pop_back();
    outSizes.back() = Dim(groups) * fPerGroup;
    y = c.reshape(y, outSizes);
  }
  return c.permute(y, toSecond);
}

} // namespace ft
