//===- GridSampler.cpp - Lowering of grid samplers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each output pixel reads its position from the grid (coordinates in [-1, 1],
// x first), and the image around that position. Positions outside are zeros,
// or are moved to the border, or reflected.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Updates.h"

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
  LowerCall &c;
  ScalarBuilder &s;
  Dim size;
  Padding padding;
  bool alignCorners;

  Value k(Value like, double v) { return s.constant(like.getType(), v); }
  /// (size + more) times a number that halves exactly.
  Value sized(Value like, int64_t more, double times = 1) {
    if (size.isStatic())
      return k(like, static_cast<double>(size.value() + more) * times);
    DType dtype = like.getType().isF64() ? DType::F64 : DType::F32;
    Value v = c.sizeIn(s, size + more, dtype);
    return times == 1 ? v : s.mul(v, k(like, times));
  }
  /// Of what reflection goes back and forth; 0 is for the caller to look at.
  Value span(Value like) { return sized(like, alignCorners ? -1 : 0); }
  /// Whether there may be nothing to go over.
  bool mayBeOne() { return alignCorners && (!size.isStatic() || size.is(1)); }
  Value floor(Value x) { return math::FloorOp::create(s.b, s.loc, x); }

  /// From [-1, 1] to pixels.
  Value toPixels(Value x) {
    Value up = s.add(x, k(x, 1));
    if (alignCorners)
      return s.mul(up, sized(x, -1, 0.5));
    return s.mul(s.sub(s.mul(up, sized(x, 0)), k(x, 1)), k(x, 0.5));
  }

  Value clip(Value x) {
    Value low = s.maximum(x, k(x, 0));
    return s.minimum(low, sized(x, -1));
  }

  /// Back and forth between the centres of the edge pixels, or their borders.
  Value reflect(Value x) {
    double low = alignCorners ? 0 : -0.5;
    if (alignCorners && size.is(1))
      return k(x, 0);
    Value d = math::AbsFOp::create(s.b, s.loc, s.sub(x, k(x, low)));
    Value rest = arith::RemFOp::create(s.b, s.loc, d, span(x));
    Value half = s.mul(floor(s.div(d, span(x))), k(x, 0.5));
    Value even = s.cmp(Cmp::Eq, floor(half), half);
    Value folded = s.select(even, rest, s.sub(span(x), rest));
    Value y = clip(s.add(folded, k(x, low)));
    if (mayBeOne())
      y = s.select(s.cmp(Cmp::Eq, span(x), k(x, 0)), k(x, 0), y);
    return y;
  }

  /// How `padded(toPixels(x))` changes with x; `pixels` is toPixels(x).
  Value slope(Value pixels) {
    Value unit = sized(pixels, alignCorners ? -1 : 0, 0.5);
    if (padding == kZeros)
      return unit;
    Value zero = k(pixels, 0);
    if (padding == kReflection) {
      double low = alignCorners ? 0 : -0.5;
      if (alignCorners && size.is(1))
        return zero;
      Value offset = s.sub(pixels, k(pixels, low));
      Value d = math::AbsFOp::create(s.b, s.loc, offset);
      Value half = s.mul(floor(s.div(d, span(pixels))), k(pixels, 0.5));
      Value even = s.cmp(Cmp::Eq, floor(half), half);
      Value rest = arith::RemFOp::create(s.b, s.loc, d, span(pixels));
      Value folded = s.select(even, rest, s.sub(span(pixels), rest));
      pixels = s.add(folded, k(pixels, low));
      Value sign = s.select(s.cmp(Cmp::Lt, offset, zero), s.neg(unit), unit);
      unit = s.select(even, sign, s.neg(sign));
      if (mayBeOne())
        unit = s.select(s.cmp(Cmp::Eq, span(pixels), zero), zero, unit);
    }
    Value low = s.cmp(Cmp::Gt, pixels, zero);
    Value high = s.cmp(Cmp::Lt, pixels, sized(pixels, -1));
    return s.select(s.mul(low, high), unit, zero);
  }

  Value padded(Value x) {
    return padding == kZeros ? x : padding == kBorder ? clip(x) : reflect(x);
  }
};

/// A pixel of one dim, its weight, and how the weight changes with the position
/// (in pixels). Null weights are 1, null slopes 0.
struct Tap {
  Value at, weight, slope;
};

} // namespace

static SmallVector<Tap, 4> tapsOf(Axis &a, Value x, Interpolation mode) {
  ScalarBuilder &s = a.s;
  x = a.toPixels(x);
  if (mode == kNearest) {
    x = a.padded(x);
    return {{math::RoundEvenOp::create(s.b, s.loc, x), Value(), Value()}};
  }
  if (mode == kLinear) {
    x = a.padded(x);
    Value low = a.floor(x), t = s.sub(x, low);
    Value one = a.k(x, 1);
    return {{low, s.sub(one, t), s.neg(one)}, {s.add(low, one), t, one}};
  }
  // Keys' cubic with a = -3/4; each tap is padded by itself.
  Value low = a.floor(x), t = s.sub(x, low);
  Value one = a.k(x, 1), rest = s.sub(one, t);
  // c3 d³ + c2 d² + c1 d + c0 and its derivative, d growing with t or not.
  auto tap = [&](Value at, Value d, bool grows, double c3, double c2, double c1,
                 double c0) {
    Value y = s.add(s.mul(d, a.k(x, c3)), a.k(x, c2));
    y = s.add(s.mul(y, d), a.k(x, c1));
    y = s.add(s.mul(y, d), a.k(x, c0));
    Value slope = s.add(s.mul(d, a.k(x, 3 * c3)), a.k(x, 2 * c2));
    slope = s.add(s.mul(slope, d), a.k(x, c1));
    return Tap{at, y, grows ? slope : s.neg(slope)};
  };
  SmallVector<Tap, 4> taps = {
      tap(s.sub(low, one), s.add(t, one), true, -0.75, 3.75, -6, 3),
      tap(low, t, true, 1.25, -2.25, 0, 1),
      tap(s.add(low, one), rest, false, 1.25, -2.25, 0, 1),
      tap(s.add(low, a.k(x, 2)), s.add(rest, one), false, -0.75, 3.75, -6, 3)};
  for (Tap &tap : taps)
    tap.at = a.padded(tap.at);
  return taps;
}

/// Weighted sum over the taps of dims `d`…, reading at the logical index `at`;
/// of dim `derived` the slopes are taken instead of the weights.
static Value sample(LowerCall &c, ScalarBuilder &s, const LoweredTensor &image,
                    DType work, ArrayRef<SmallVector<Tap, 4>> taps, unsigned d,
                    SmallVectorImpl<Value> &at, Value inside,
                    unsigned derived = ~0U) {
  if (d == taps.size()) {
    Value e = s.cast(readAt(s, image, at), image.dtype, work);
    return s.select(inside, e, s.zero(e));
  }
  Dim size = image.dims()[2 + d];
  Value sum;
  for (const Tap &tap : taps[d]) {
    Value low = s.cmp(Cmp::Ge, tap.at, s.zero(tap.at));
    Value high = s.cmp(Cmp::Lt, tap.at, c.sizeIn(s, size, work));
    Value here = s.mul(low, high);
    Value position = s.select(here, tap.at, s.zero(tap.at));
    Value whole = s.cast(position, work, DType::I64);
    at[2 + d] = toIndex(s, whole, DType::I64);
    Value part = sample(c, s, image, work, taps, d + 1, at,
                        inside ? s.mul(inside, here) : here, derived);
    if (Value factor = d == derived ? tap.slope : tap.weight)
      part = s.mul(part, factor);
    sum = sum ? s.add(sum, part) : part;
  }
  return sum;
}

namespace {
/// A call with its operands and options.
struct GridCall {
  LoweredTensor image, grid;
  Interpolation mode;
  Padding padding;
  bool alignCorners;
  unsigned dims;
  DType work;

  GridCall(LowerCall &c, unsigned imageArg)
      : image(c.operand(imageArg)), grid(c.operand(imageArg + 1)),
        mode(static_cast<Interpolation>(c.integer(imageArg + 2))),
        padding(static_cast<Padding>(c.integer(imageArg + 3))),
        alignCorners(c.flag(imageArg + 4)), dims(image.rank() - 2),
        work(opmathType(image.dtype)) {}

  Axis axis(LowerCall &c, ScalarBuilder &s, unsigned d) const {
    return {c, s, image.dims()[2 + d], padding, alignCorners};
  }
  /// The position of a pixel for each spatial dim, given batch and pixel.
  SmallVector<Access> positions(LowerCall &c, AffineExpr batch,
                                ArrayRef<AffineExpr> pixel) const {
    SmallVector<Access> ins;
    for (unsigned d = 0; d < dims; ++d) {
      SmallVector<AffineExpr, 6> at = {batch};
      at.append(pixel.begin(), pixel.end());
      at.push_back(c.constant(dims - 1 - d)); // x comes first
      ins.push_back({grid, at});
    }
    return ins;
  }
  SmallVector<SmallVector<Tap, 4>> taps(LowerCall &c, ScalarBuilder &s,
                                        ValueRange v) const {
    SmallVector<SmallVector<Tap, 4>> all;
    for (unsigned d = 0; d < dims; ++d) {
      Axis a = axis(c, s, d);
      all.push_back(tapsOf(a, s.cast(v[d], grid.dtype, work), mode));
    }
    return all;
  }
};
} // namespace

static LogicalResult gridSampler(LowerCall &c) {
  GridCall g(c, 0);
  Dims sizes = dimsOf(c.resultMeta(0));
  unsigned rank = g.dims + 2;
  SmallVector<AffineExpr, 6> out;
  for (unsigned d = 0; d < rank; ++d)
    out.push_back(c.dim(d));
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  c.setResult(0, c.generic(g.positions(c, out[0], ArrayRef(out).drop_front(2)),
                           Access{c.empty(sizes, g.image.dtype), out},
                           iterators, [&](ScalarBuilder &s, ValueRange v) {
                             SmallVector<Value> at(rank);
                             at[0] = iterationIndex(s, 0);
                             at[1] = iterationIndex(s, 1);
                             Value sum =
                                 sample(c, s, g.image, g.work, g.taps(c, s, v),
                                        0, at, Value());
                             return SmallVector<Value>{
                                 s.cast(sum, g.work, g.image.dtype)};
                           })[0]);
  return success();
}

/// The gradient of each sample goes to the pixels that it was read from, times
/// their weights: for a linear sample of two dims
///
///   values [N, C, samples, 4] -> [N, C, area] at positions [N, samples, 4]
///
/// Pixels outside of the image have position -1. Cost: the taps of all samples,
/// whatever the size of the image.
static LoweredTensor imageGradient(LowerCall &c, const GridCall &g,
                                   LoweredTensor gradient) {
  int64_t each = g.mode == kNearest ? 1 : g.mode == kLinear ? 2 : 4, all = 1;
  for (unsigned d = 0; d < g.dims; ++d)
    all *= each;
  Dims sizes = g.grid.dims(); // batch, pixels, tap
  sizes.back() = all;
  SmallVector<AffineExpr, 6> out;
  for (unsigned d = 0; d < sizes.size(); ++d)
    out.push_back(c.dim(d));
  SmallVector<Iterator> iterators(sizes.size(), Iterator::Parallel);
  SmallVector<LoweredTensor> r = c.generic(
      g.positions(c, out[0], ArrayRef(out).slice(1, g.dims)),
      {Access{c.empty(sizes, DType::I64), out},
       Access{c.empty(sizes, g.work), out}},
      iterators, [&](ScalarBuilder &s, ValueRange v) {
        SmallVector<SmallVector<Tap, 4>> taps = g.taps(c, s, v);
        Value number = fromIndex(s, iterationIndex(s, g.dims + 1), DType::I64);
        Value place = s.zero(number), weight, inside;
        for (unsigned d = g.dims; d-- > 0;) {
          // The digits of the tap's number count the taps of each dim.
          Value base = s.constantInt(number.getType(), each);
          Value rest = s.div(number, base);
          Value digit = s.sub(number, s.mul(rest, base));
          number = rest;
          Tap tap = taps[d][0];
          if (!tap.weight)
            tap.weight = s.one(tap.at);
          for (int64_t k = 1; k < each; ++k) {
            Value mine =
                s.cmp(Cmp::Eq, digit, s.constantInt(digit.getType(), k));
            tap.at = s.select(mine, taps[d][k].at, tap.at);
            tap.weight = s.select(mine, taps[d][k].weight, tap.weight);
          }
          Dim size = g.image.dims()[2 + d];
          Value here = s.mul(s.cmp(Cmp::Ge, tap.at, s.zero(tap.at)),
                             s.cmp(Cmp::Lt, tap.at, c.sizeIn(s, size, g.work)));
          Value at = s.cast(s.select(here, tap.at, s.zero(tap.at)), g.work,
                            DType::I64);
          Dim stride = product(ArrayRef<Dim>(g.image.dims()).drop_front(3 + d));
          place = s.add(place, s.mul(at, c.sizeIn(s, stride, DType::I64)));
          weight = weight ? s.mul(weight, tap.weight) : tap.weight;
          inside = inside ? s.mul(inside, here) : here;
        }
        Value nowhere = s.constantInt(place.getType(), -1);
        return SmallVector<Value>{s.select(inside, place, nowhere), weight};
      });
  c.newGroup();
  Dims image = g.image.dims(), values = gradient.dims(), weights = sizes;
  values.push_back(1);
  weights.insert(weights.begin() + 1, 1);
  Dims taken = gradient.dims();
  taken.push_back(all);
  Updates u;
  u.fold = Fold::Sum;
  u.values =
      c.pointwise({c.reshape(gradient, values), c.reshape(r[1], weights)},
                  taken, g.work, [&](ScalarBuilder &s, ValueRange v) {
                    return s.mul(s.cast(v[0], gradient.dtype, g.work), v[1]);
                  });
  c.newGroup();
  Dim samples = product(ArrayRef<Dim>(taken).drop_front(2));
  Dim area = product(ArrayRef<Dim>(image).drop_front(2));
  u.values = c.reshape(u.values, {image[0], image[1], samples});
  u.indices = {c.reshape(r[0], {image[0], 1, samples})};
  u.sizes = {image[0], image[1], area};
  u.dtype = g.image.dtype;
  u.from = {
      {UpdatePlace::Loop, 0}, {UpdatePlace::Loop, 1}, {UpdatePlace::Index, 0}};
  u.loops = 3;
  u.skip = -1;
  return c.reshape(foldUpdates(c, u), image);
}

/// The gradient of a position sums over the channels.
static LoweredTensor gridGradient(LowerCall &c, const GridCall &g,
                                  LoweredTensor gradient) {
  Dims sizes = g.grid.dims();
  if (g.mode == kNearest) // which pixel is nearest changes in steps
    return c.filled(sizes, g.grid.dtype, 0);
  auto last = static_cast<unsigned>(sizes.size()) - 1;
  // Dims: batch, pixel, coordinate; then the channel.
  SmallVector<AffineExpr, 6> out, from = {c.dim(0), c.dim(last + 1)};
  for (unsigned d = 0; d <= last; ++d)
    out.push_back(c.dim(d));
  from.append(out.begin() + 1, out.end() - 1);
  SmallVector<Access> ins =
      g.positions(c, c.dim(0), ArrayRef(out).slice(1, g.dims));
  ins.push_back({gradient, from});
  SmallVector<Iterator> iterators(last + 1, Iterator::Parallel);
  iterators.push_back(Iterator::Reduction);
  LoweredTensor sum = c.generic(
      ins, Access{c.filled(sizes, g.work, 0), out}, iterators,
      [&](ScalarBuilder &s, ValueRange v) {
        SmallVector<SmallVector<Tap, 4>> taps = g.taps(c, s, v);
        SmallVector<Value> at(g.dims + 2);
        at[0] = iterationIndex(s, 0);
        at[1] = iterationIndex(s, last + 1);
        Value which = iterationIndex(s, last);
        Value slope = s.zero(v.back());
        for (unsigned d = 0; d < g.dims; ++d) {
          Axis a = g.axis(c, s, d);
          if (g.mode == kCubic) // each tap is padded: only the units remain
            a.padding = kZeros;
          Value unit = a.slope(a.toPixels(s.cast(v[d], g.grid.dtype, g.work)));
          Value own = s.mul(
              sample(c, s, g.image, g.work, taps, 0, at, Value(), d), unit);
          Value mine = s.cmp(Cmp::Eq, which,
                             s.constantInt(which.getType(), g.dims - 1 - d));
          slope = s.select(mine, own, slope);
        }
        Value e = s.cast(v[g.dims], gradient.dtype, g.work);
        return SmallVector<Value>{s.add(v.back(), s.mul(e, slope))};
      })[0];
  return c.cast(sum, g.grid.dtype);
}

static LogicalResult gridSamplerBackward(LowerCall &c) {
  GridCall g(c, 1);
  LoweredTensor gradient = c.operand(0);
  c.setResult(0, imageGradient(c, g, gradient));
  c.newGroup();
  c.setResult(1, gridGradient(c, g, gradient));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("grid_sampler.default", gridSampler),
    anyShape("grid_sampler_2d.default", gridSampler),
    anyShape("grid_sampler_3d.default", gridSampler),
    anyShape("grid_sampler_2d_backward.default", gridSamplerBackward),
    anyShape("grid_sampler_3d_backward.default", gridSamplerBackward),
};

ArrayRef<LowerRuleRow> gridSamplerLowerRules() { return kRows; }

} // namespace ft
