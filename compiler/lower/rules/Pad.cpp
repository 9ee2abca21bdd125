//===- Pad.cpp - Lowering of padding and of image patches -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Amounts of padding are listed from the last dim: low, high, low, high…

#include "compiler/lower/Assemble.h"
#include "compiler/lower/Gather.h"
#include "compiler/lower/Resample.h"
#include "compiler/lower/Rules.h"

using namespace mlir;

namespace ft {

using Sizes = Dims;

enum class PadMode { Reflect, Replicate, Circular };

//===----------------------------------------------------------------------===//
// Constant padding
//===----------------------------------------------------------------------===//

/// Negative amounts cut off.
static LoweredTensor padConstant(LowerCall &c, LoweredTensor t,
                                 ArrayRef<Dim> amounts, double value) {
  unsigned rank = t.rank();
  Sizes low(rank, 0), high(rank, 0);
  for (unsigned i = 0; 2 * i + 1 < amounts.size(); ++i) {
    unsigned dim = rank - 1 - i;
    Dim before = amounts[2 * i], after = amounts[2 * i + 1];
    Dim cutLow = maxDim(before * -1, 0), cutHigh = maxDim(after * -1, 0);
    if (!cutLow.is(0) || !cutHigh.is(0))
      t = c.slice(t, dim, cutLow,
                  maxDim(t.dims()[dim] - (cutLow + cutHigh), 0));
    low[dim] = maxDim(before, 0);
    high[dim] = maxDim(after, 0);
  }
  if (t.dtype == DType::Bool)
    value = value != 0;
  return c.pad(t, low, high, value);
}

static LogicalResult constantPad(LowerCall &c) {
  c.setResult(0, padConstant(c, c.operand(0), c.dimsArg(1), c.number(2)));
  return success();
}

//===----------------------------------------------------------------------===//
// Padding with elements of the tensor
//===----------------------------------------------------------------------===//

/// Where position i of the padded dim comes from.
static int64_t sourceOf(PadMode mode, int64_t i, int64_t n) {
  switch (mode) {
  case PadMode::Reflect: // the edge itself is not repeated
    if (i < 0)
      i = -i;
    return i < n ? i : 2 * (n - 1) - i;
  case PadMode::Replicate:
    return std::clamp<int64_t>(i, 0, n - 1);
  case PadMode::Circular:
    return ((i % n) + n) % n;
  }
  llvm_unreachable("all modes are listed");
}

static Resampling padMap(PadMode mode, int64_t n, int64_t before,
                         int64_t after) {
  Resampling map;
  map.from = n;
  for (int64_t i = -before; i < n + after; ++i)
    map.to.push_back({{sourceOf(mode, i, n)}, {1}});
  return map;
}

/// The same where a size or an amount is of the run.
static RunResampling padInRun(LowerCall &c, PadMode mode, Dim n, Dim before,
                              Dim after) {
  RunResampling map;
  map.to = before + n + after;
  map.at = [&c, mode, n, before](ScalarBuilder &s, Value position) {
    using Cmp = ScalarBuilder::Cmp;
    Value size = sizeIndex(c, s, n);
    Value i = s.sub(position, sizeIndex(c, s, before));
    Value zero = s.zero(i), last = s.sub(size, s.one(i));
    Value low, high; // for what lies in front, and behind
    switch (mode) {
    case PadMode::Reflect:
      low = s.sub(zero, i);
      high = s.sub(s.add(last, last), i);
      break;
    case PadMode::Replicate:
      low = zero;
      high = last;
      break;
    case PadMode::Circular:
      low = s.add(i, size);
      high = s.sub(i, size);
      break;
    }
    Value source = s.select(s.cmp(Cmp::Lt, i, zero), low,
                            s.select(s.cmp(Cmp::Ge, i, size), high, i));
    return SmallVector<RunTap, 4>{{source, Value()}};
  };
  return map;
}

namespace {
/// The padding of one dim.
struct Padding {
  PadMode mode;
  Dim size, before, after;

  bool isNone() const { return before.is(0) && after.is(0); }
  bool isStatic() const {
    return size.isStatic() && before.isStatic() && after.isStatic();
  }
  Resampling table() const {
    return padMap(mode, size.value(), before.value(), after.value());
  }
  RunResampling code(LowerCall &c) const {
    return padInRun(c, mode, size, before, after);
  }
};
} // namespace

static LogicalResult padBy(LowerCall &c, ArrayRef<Dim> amounts, PadMode mode) {
  LoweredTensor t = c.operand(0);
  for (unsigned i = 0; 2 * i + 1 < amounts.size(); ++i) {
    unsigned dim = t.rank() - 1 - i;
    Padding p{mode, t.dims()[dim], amounts[2 * i], amounts[2 * i + 1]};
    if (p.isNone())
      continue;
    t = p.isStatic() ? resample(c, t, dim, p.table())
                     : resample(c, t, dim, p.code(c));
  }
  c.setResult(0, t);
  return success();
}

template <PadMode kMode>
static LogicalResult padded(LowerCall &c) {
  return padBy(c, c.dimsArg(1), kMode);
}

static LogicalResult pad(LowerCall &c) {
  StringRef mode = c.call().args[2].str;
  if (mode == "constant") {
    double value = c.isNone(3) ? 0 : c.number(3);
    c.setResult(0, padConstant(c, c.operand(0), c.dimsArg(1), value));
    return success();
  }
  if (mode == "reflect")
    return padBy(c, c.dimsArg(1), PadMode::Reflect);
  if (mode == "replicate")
    return padBy(c, c.dimsArg(1), PadMode::Replicate);
  if (mode == "circular")
    return padBy(c, c.dimsArg(1), PadMode::Circular);
  return c.unsupported("padding mode " + mode);
}

/// The mode as a number, by PyTorch's enumeration.
static LogicalResult padNumbered(LowerCall &c) {
  switch (c.integer(2)) {
  case 0:
    return padBy(c, c.dimsArg(1), PadMode::Reflect);
  case 1:
    return padBy(c, c.dimsArg(1), PadMode::Replicate);
  case 2:
    return padBy(c, c.dimsArg(1), PadMode::Circular);
  case 3:
    c.setResult(0, padConstant(c, c.operand(0), c.dimsArg(1),
                               c.isNone(3) ? 0 : c.number(3)));
    return success();
  }
  return c.unsupported("padding mode " + Twine(c.integer(2)));
}

template <PadMode kMode>
static LogicalResult padBackward(LowerCall &c) {
  LoweredTensor g = c.operand(0);
  Sizes amounts = c.dimsArg(2), sizes = dimsOf(c.meta(1));
  DType dtype = g.dtype;
  for (unsigned i = 0; 2 * i + 1 < amounts.size(); ++i) {
    unsigned dim = g.rank() - 1 - i;
    Padding p{kMode, sizes[dim], amounts[2 * i], amounts[2 * i + 1]};
    if (p.isNone())
      continue;
    g = p.isStatic() ? resampleBackward(c, g, dim, p.table())
                     : resampleBackward(c, g, dim, p.size, p.code(c));
  }
  c.setResult(0, c.cast(g, dtype));
  return success();
}

//===----------------------------------------------------------------------===//
// Patches
//===----------------------------------------------------------------------===//

namespace {
/// Sliding blocks over the last two dims.
struct Blocks {
  SmallVector<int64_t, 6> kernel, dilation, padding, stride;
  Dim count(unsigned d, Dim size) const {
    int64_t lost = dilation[d] * (kernel[d] - 1) + 1 - 2 * padding[d];
    return floorDiv(size - lost, stride[d]) + 1;
  }
};
} // namespace

/// [N, C, H, W] → [N, C kh kw, oh ow].
static LogicalResult im2col(LowerCall &c) {
  Blocks p{c.integers(1), c.integers(2), c.integers(3), c.integers(4)};
  LoweredTensor t = c.operand(0);
  Sizes sizes = t.dims();
  bool batched = sizes.size() == 4;
  if (!batched) {
    sizes.insert(sizes.begin(), 1);
    t = c.reshape(t, sizes);
  }
  Dim rows = p.count(0, sizes[2]), columns = p.count(1, sizes[3]);
  t = c.pad(t, {0, 0, p.padding[0], p.padding[1]},
            {0, 0, p.padding[0], p.padding[1]}, 0);
  // Dims: n, c, kh, kw, oh, ow.
  SmallVector<AffineExpr, 6> index = {
      c.dim(0), c.dim(1), c.dim(4) * p.stride[0] + c.dim(2) * p.dilation[0],
      c.dim(5) * p.stride[1] + c.dim(3) * p.dilation[1]};
  t = gatherAffine(
      c, t, index,
      {sizes[0], sizes[1], p.kernel[0], p.kernel[1], rows, columns});
  c.setResult(0, c.reshape(t, dimsOf(c.resultMeta(0))));
  return success();
}

/// The transpose of im2col: each pixel adds up the blocks that hold it.
static LogicalResult col2im(LowerCall &c) {
  Blocks p{c.integers(2), c.integers(3), c.integers(4), c.integers(5)};
  Sizes image = c.dimsArg(1), sizes = dimsOf(c.resultMeta(0));
  LoweredTensor t = c.operand(0);
  bool batched = sizes.size() == 4;
  Dim n = batched ? sizes[0] : Dim(1), channels = sizes[batched ? 1 : 0];
  Dim rows = p.count(0, image[0]), columns = p.count(1, image[1]);
  DType dtype = t.dtype, work = opmathType(dtype);
  t = c.reshape(t, {n, channels, p.kernel[0], p.kernel[1], rows, columns});
  // Dims: n, c, h, w, then the offsets kh, kw inside a block.
  SmallVector<AffineExpr, 6> out = {c.dim(0), c.dim(1), c.dim(2), c.dim(3)};
  SmallVector<Iterator> iterators(4, Iterator::Parallel);
  iterators.append(2, Iterator::Reduction);
  Access extent{c.empty({p.kernel[0], p.kernel[1]}, DType::I8),
                {c.dim(4), c.dim(5)}};
  LoweredTensor start = c.filled({n, channels, image[0], image[1]}, work, 0);
  LoweredTensor sum = c.generic(
      extent, Access{start, out}, iterators,
      [&](ScalarBuilder &s, ValueRange v) {
        SmallVector<Value> at = {iterationIndex(s, 0), iterationIndex(s, 1),
                                 iterationIndex(s, 4), iterationIndex(s, 5)};
        Value hit;
        for (unsigned d : {0U, 1U}) {
          Value pixel = iterationIndex(s, 2 + d);
          Type index = pixel.getType();
          auto k = [&](int64_t i) { return s.constantInt(index, i); };
          // block * stride = pixel + padding - offset * dilation
          Value scaled = s.sub(s.add(pixel, k(p.padding[d])),
                               s.mul(at[2 + d], k(p.dilation[d])));
          Value block = s.div(scaled, k(p.stride[d]));
          using Cmp = ScalarBuilder::Cmp;
          Value fits = s.cmp(Cmp::Eq, s.mul(block, k(p.stride[d])), scaled);
          Value inside = s.mul(
              s.cmp(Cmp::Ge, scaled, k(0)),
              s.cmp(Cmp::Lt, block, sizeIndex(c, s, d == 0 ? rows : columns)));
          fits = s.mul(fits, inside);
          hit = hit ? s.mul(hit, fits) : fits;
          at.push_back(s.select(fits, block, k(0)));
        }
        Value e = s.cast(readAt(s, t, at), dtype, work);
        return SmallVector<Value>{s.add(v[1], s.select(hit, e, s.zero(e)))};
      })[0];
  c.setResult(0, c.reshape(c.cast(sum, dtype), sizes));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("constant_pad_nd.default", constantPad),
    anyShape("pad.default", pad),
    anyShape("_pad_enum.default", padNumbered),
    anyShape("_pad_circular.default", padded<PadMode::Circular>),
    anyShape("reflection_pad1d.default", padded<PadMode::Reflect>),
    anyShape("reflection_pad2d.default", padded<PadMode::Reflect>),
    anyShape("reflection_pad3d.default", padded<PadMode::Reflect>),
    anyShape("replication_pad1d.default", padded<PadMode::Replicate>),
    anyShape("replication_pad2d.default", padded<PadMode::Replicate>),
    anyShape("replication_pad3d.default", padded<PadMode::Replicate>),
    anyShape("reflection_pad1d_backward.default",
             padBackward<PadMode::Reflect>),
    anyShape("reflection_pad2d_backward.default",
             padBackward<PadMode::Reflect>),
    anyShape("reflection_pad3d_backward.default",
             padBackward<PadMode::Reflect>),
    anyShape("replication_pad1d_backward.default",
             padBackward<PadMode::Replicate>),
    anyShape("replication_pad2d_backward.default",
             padBackward<PadMode::Replicate>),
    anyShape("replication_pad3d_backward.default",
             padBackward<PadMode::Replicate>),
    anyShape("im2col.default", im2col),
    anyShape("col2im.default", col2im),
};

ArrayRef<LowerRuleRow> padLowerRules() { return kRows; }

} // namespace ft
