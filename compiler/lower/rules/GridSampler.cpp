//===- GridSampler.cpp - Lowering of grid samplers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each output pixel reads its position from the grid (coordinates in [-1, 1],
// x first), and the image around that position. Positions outside are zeros,
// or are moved to the border, or reflected.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

using Cmp = ScalarBuilder::Cmp;

enum Interpolation { kLinear, kNearest, kCubic };
enum Padding { kZeros, kBorder, kReflection };

namespace {

/// One spatial dim of the image.
struct Axis {
  ScalarBuilder &s;
  int64_t size;
  Padding padding;
  bool alignCorners;

  Value k(Value like, double v) { return s.constant(like.getType(), v); }
  Value floor(Value x) { return math::FloorOp::create(s.b, s.loc, x); }

  /// From [-1, 1] to pixels.
  Value toPixels(Value x) {
    auto n = static_cast<double>(size);
    Value up = s.add(x, k(x, 1));
    if (alignCorners)
      return s.mul(up, k(x, (n - 1) / 2));
    return s.mul(s.sub(s.mul(up, k(x, n)), k(x, 1)), k(x, 0.5));
  }

  Value clip(Value x) {
    Value low = s.maximum(x, k(x, 0));
    return s.minimum(low, k(x, static_cast<double>(size - 1)));
  }

  /// Back and forth between the centres of the edge pixels, or their borders.
  Value reflect(Value x) {
    double low = alignCorners ? 0 : -0.5;
    auto span = static_cast<double>(alignCorners ? size - 1 : size);
    if (span == 0)
      return k(x, 0);
    Value d = math::AbsFOp::create(s.b, s.loc, s.sub(x, k(x, low)));
    Value rest = arith::RemFOp::create(s.b, s.loc, d, k(x, span));
    Value half = s.mul(floor(s.div(d, k(x, span))), k(x, 0.5));
    Value even = s.cmp(Cmp::Eq, floor(half), half);
    Value folded = s.select(even, rest, s.sub(k(x, span), rest));
    return clip(s.add(folded, k(x, low)));
  }

  Value padded(Value x) {
    return padding == kZeros ? x : padding == kBorder ? clip(x) : reflect(x);
  }
};

/// A pixel of one dim and its weight; null weights are 1.
struct Tap {
  Value at, weight;
};

} // namespace

static SmallVector<Tap, 4> tapsOf(Axis &a, Value x, Interpolation mode) {
  ScalarBuilder &s = a.s;
  x = a.toPixels(x);
  if (mode == kNearest) {
    x = a.padded(x);
    return {{math::RoundEvenOp::create(s.b, s.loc, x), Value()}};
  }
  if (mode == kLinear) {
    x = a.padded(x);
    Value low = a.floor(x), t = s.sub(x, low);
    return {{low, s.sub(a.k(x, 1), t)}, {s.add(low, a.k(x, 1)), t}};
  }
  // Keys' cubic with a = -3/4; each tap is padded by itself.
  Value low = a.floor(x), t = s.sub(x, low);
  auto poly = [&](Value d, double c3, double c2, double c1, double c0) {
    Value y = s.add(s.mul(d, a.k(x, c3)), a.k(x, c2));
    y = s.add(s.mul(y, d), a.k(x, c1));
    return s.add(s.mul(y, d), a.k(x, c0));
  };
  Value one = a.k(x, 1), rest = s.sub(one, t);
  SmallVector<Tap, 4> taps = {
      {s.sub(low, one), poly(s.add(t, one), -0.75, 3.75, -6, 3)},
      {low, poly(t, 1.25, -2.25, 0, 1)},
      {s.add(low, one), poly(rest, 1.25, -2.25, 0, 1)},
      {s.add(low, a.k(x, 2)), poly(s.add(rest, one), -0.75, 3.75, -6, 3)}};
  for (Tap &tap : taps)
    tap.at = a.padded(tap.at);
  return taps;
}

/// Weighted sum over the taps of dims `d`…, reading at the logical index `at`.
static Value sample(ScalarBuilder &s, LowerCall &c, const LoweredTensor &image,
                    DType work, ArrayRef<SmallVector<Tap, 4>> taps, unsigned d,
                    SmallVectorImpl<Value> &at, Value inside) {
  if (d == taps.size()) {
    Value e = s.cast(readAt(s, image, at), image.dtype, work);
    return s.select(inside, e, s.zero(e));
  }
  int64_t size = image.sizes()[2 + d];
  Value sum;
  for (const Tap &tap : taps[d]) {
    Value low = s.cmp(Cmp::Ge, tap.at, s.zero(tap.at));
    Value high = s.cmp(Cmp::Lt, tap.at,
                       s.constant(tap.at.getType(), static_cast<double>(size)));
    Value here = s.mul(low, high);
    Value position = s.select(here, tap.at, s.zero(tap.at));
    Value whole = s.cast(position, work, DType::I64);
    at[2 + d] = toIndex(s, whole, DType::I64);
    Value part = sample(s, c, image, work, taps, d + 1, at,
                        inside ? s.mul(inside, here) : here);
    if (tap.weight)
      part = s.mul(part, tap.weight);
    sum = sum ? s.add(sum, part) : part;
  }
  return sum;
}

static LogicalResult gridSampler(LowerCall &c) {
  LoweredTensor image = c.operand(0), grid = c.operand(1);
  unsigned dims = image.rank() - 2;
  auto mode = static_cast<Interpolation>(c.integer(2));
  auto padding = static_cast<Padding>(c.integer(3));
  bool alignCorners = c.flag(4);
  SmallVector<int64_t, 6> sizes = staticSizes(c.resultMeta(0));
  DType work = opmathType(image.dtype);
  if (llvm::is_contained(sizes, 0)) {
    c.setResult(0, c.empty(sizes, image.dtype));
    return success();
  }
  unsigned rank = image.rank();
  SmallVector<AffineExpr, 6> out;
  for (unsigned d = 0; d < rank; ++d)
    out.push_back(c.dim(d));
  SmallVector<Access> ins;
  for (unsigned d = 0; d < dims; ++d) {
    SmallVector<AffineExpr, 6> at = {c.dim(0)};
    at.append(out.begin() + 2, out.end());
    at.push_back(c.constant(dims - 1 - d)); // x comes first
    ins.push_back({grid, at});
  }
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  c.setResult(
      0, c.generic(ins, Access{c.empty(sizes, image.dtype), out}, iterators,
                   [&](ScalarBuilder &s, ValueRange v) {
                     SmallVector<SmallVector<Tap, 4>> taps;
                     for (unsigned d = 0; d < dims; ++d) {
                       Axis a{s, image.sizes()[2 + d], padding, alignCorners};
                       Value x = s.cast(v[d], grid.dtype, work);
                       taps.push_back(tapsOf(a, x, mode));
                     }
                     SmallVector<Value> at(rank);
                     at[0] = iterationIndex(s, 0);
                     at[1] = iterationIndex(s, 1);
                     Value sum =
                         sample(s, c, image, work, taps, 0, at, Value());
                     return SmallVector<Value>{s.cast(sum, work, image.dtype)};
                   })[0]);
  return success();
}

static const LowerRuleRow kRows[] = {
    {"grid_sampler.default", gridSampler},
    {"grid_sampler_2d.default", gridSampler},
    {"grid_sampler_3d.default", gridSampler},
};

ArrayRef<LowerRuleRow> gridSamplerLowerRules() { return kRows; }

} // namespace ft
