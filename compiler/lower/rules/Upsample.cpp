//===- Upsample.cpp - Lowering of image resizing --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resizing is one linear map along each spatial dim, known at compile time
// (Resample.h). Positions follow ATen's arithmetic: float32, or double for
// double images, because a floor is taken of them.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Resample.h"
#include "compiler/lower/Rules.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace ft {

enum class Filter {
  Nearest,
  NearestExact,
  Linear,
  Cubic,
  LinearAA,
  CubicAA,
  LanczosAA
};

namespace {
/// What one dim is resized by. `scale` is what the caller gave as output /
/// input, 0 if nothing: then the sizes decide.
struct Axis {
  int64_t from, to;
  double scale;
  bool alignCorners;
};
} // namespace

static bool isAligned(Filter f) {
  return f != Filter::Nearest && f != Filter::NearestExact;
}

/// Input positions per output position.
template <typename T>
static T stepOf(const Axis &a, bool aligned) {
  if (aligned && a.alignCorners)
    return a.to > 1 ? static_cast<T>(a.from - 1) / static_cast<T>(a.to - 1)
                    : static_cast<T>(0);
  if (a.scale > 0)
    return static_cast<T>(1.0 / a.scale);
  return static_cast<T>(a.from) / static_cast<T>(a.to);
}

/// Keys' cubic, |x| < 1 and 1 ≤ |x| < 2.
template <typename T>
static T cubicNear(T x, T a) {
  return ((a + 2) * x - (a + 3)) * x * x + 1;
}
template <typename T>
static T cubicFar(T x, T a) {
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

template <typename T>
static Taps cubicTaps(const Axis &a, T source) {
  const T kA = static_cast<T>(-0.75);
  T floor = std::floor(source), t = source - floor;
  auto first = static_cast<int64_t>(floor) - 1;
  T weights[] = {cubicFar<T>(t + 1, kA), cubicNear<T>(t, kA),
                 cubicNear<T>(1 - t, kA), cubicFar<T>(2 - t, kA)};
  Taps taps;
  for (int64_t k = 0; k < 4; ++k) {
    taps.index.push_back(std::clamp<int64_t>(first + k, 0, a.from - 1));
    taps.weight.push_back(weights[k]);
  }
  return taps;
}

/// sinc(x) sinc(x / 3) for |x| < 3.
template <typename T>
static T lanczos(T x) {
  if (x < static_cast<T>(1e-7))
    return 1;
  if (x >= 3)
    return 0;
  T angle = static_cast<T>(std::numbers::pi) * x;
  return 3 * std::sin(angle) * std::sin(angle / 3) / (angle * angle);
}

template <typename T>
static T antialiased(Filter f, T x) {
  const T kA = static_cast<T>(-0.5);
  switch (f) {
  case Filter::CubicAA:
    return x < 1 ? cubicNear<T>(x, kA) : x < 2 ? cubicFar<T>(x, kA) : 0;
  case Filter::LanczosAA:
    return lanczos<T>(x);
  default:
    return std::max<T>(1 - x, 0);
  }
}

/// A filter as wide as the step, so that shrinking averages.
template <typename T>
static Taps antialiasedTaps(const Axis &a, int64_t i, Filter f) {
  T step = stepOf<T>(a, true);
  T radius = f == Filter::LanczosAA ? 3 : f == Filter::CubicAA ? 2 : 1;
  T support = step >= 1 ? radius * step : radius;
  T inverse = step >= 1 ? 1 / step : static_cast<T>(1);
  T center = step * (static_cast<T>(i) + static_cast<T>(0.5));
  auto low = std::max<int64_t>(
      static_cast<int64_t>(center - support + static_cast<T>(0.5)), 0);
  auto high = std::min<int64_t>(
      static_cast<int64_t>(center + support + static_cast<T>(0.5)), a.from);
  Taps taps;
  T total = 0;
  for (int64_t j = low; j < high; ++j) {
    T x =
        std::fabs((static_cast<T>(j) - center + static_cast<T>(0.5)) * inverse);
    T w = antialiased<T>(f, x);
    taps.index.push_back(j);
    taps.weight.push_back(w);
    total += w;
  }
  for (double &w : taps.weight)
    w /= total;
  return taps;
}

template <typename T>
static Taps tapsOf(Filter f, const Axis &a, int64_t i) {
  auto at = static_cast<T>(i), half = static_cast<T>(0.5);
  T step = stepOf<T>(a, isAligned(f));
  switch (f) {
  case Filter::Nearest:
    return {{std::min(static_cast<int64_t>(std::floor(at * step)), a.from - 1)},
            {1}};
  case Filter::NearestExact:
    return {{std::min(static_cast<int64_t>(std::floor((at + half) * step)),
                      a.from - 1)},
            {1}};
  case Filter::Linear: {
    if (a.from == a.to) // whatever the scale; infinity times 0 is NaN
      return {{i, i}, {1, 0}};
    T source =
        a.alignCorners ? step * at : std::max<T>(step * (at + half) - half, 0);
    auto low = std::min(static_cast<int64_t>(source), a.from - 1);
    T high = std::min<T>(std::max<T>(source - static_cast<T>(low), 0), 1);
    int64_t next = low + (low < a.from - 1 ? 1 : 0);
    return {{low, next}, {1 - high, high}};
  }
  case Filter::Cubic:
    return cubicTaps<T>(a,
                        a.alignCorners ? step * at : step * (at + half) - half);
  case Filter::LinearAA:
  case Filter::CubicAA:
  case Filter::LanczosAA:
    return antialiasedTaps<T>(a, i, f);
  }
  llvm_unreachable("all filters are listed");
}

static Resampling mapOf(Filter f, const Axis &a, DType dtype) {
  Resampling map;
  map.from = a.from;
  for (int64_t i = 0; i < a.to; ++i)
    // The nearest position is found in float whatever the image's dtype is.
    map.to.push_back(dtype == DType::F64 && isAligned(f)
                         ? tapsOf<double>(f, a, i)
                         : tapsOf<float>(f, a, i));
  return map;
}

/// The scales of a call: `scales` (1-d), `scales_d/h/w`, or one list
/// `scale_factors`; missing ones are 0.
static SmallVector<double, 3> scalesOf(LowerCall &c, unsigned dims) {
  const Schema &schema = *c.call().schema;
  SmallVector<double, 3> scales(dims, 0);
  auto take = [&](int arg, unsigned d) {
    if (arg >= 0 && !c.isNone(static_cast<unsigned>(arg)))
      scales[d] = c.number(static_cast<unsigned>(arg));
  };
  if (int list = schema.argIndex("scale_factors"); list >= 0) {
    const Arg &factors = c.call().args[static_cast<unsigned>(list)];
    for (auto [d, f] : llvm::enumerate(factors.list))
      scales[d] =
          f.kind == Arg::Int ? static_cast<double>(f.dim.value()) : f.real;
    return scales;
  }
  take(schema.argIndex("scales"), 0);
  static const char *const kNames[] = {"scales_d", "scales_h", "scales_w"};
  for (unsigned d = 0; d < dims; ++d)
    take(schema.argIndex(kNames[3 - dims + d]), d);
  return scales;
}

static bool alignsCorners(LowerCall &c) {
  int arg = c.call().schema->argIndex("align_corners");
  return arg >= 0 && c.flag(static_cast<unsigned>(arg));
}

/// Of images the number and the channels may be of the run.
static LogicalResult checkImage(LowerCall &c, ArrayRef<Dim> from,
                                ArrayRef<Dim> to) {
  auto isKnown = [](Dim d) { return d.isStatic(); };
  if (llvm::all_of(from.drop_front(2), isKnown) &&
      llvm::all_of(to.drop_front(2), isKnown))
    return success();
  return c.unsupported("images whose size is only known at run time");
}

template <Filter kFilter>
static LogicalResult upsample(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  DType dtype = t.dtype;
  Dims from = t.dims(), to = dimsOf(c.resultMeta(0));
  if (failed(checkImage(c, from, to)))
    return failure();
  unsigned dims = t.rank() - 2;
  SmallVector<double, 3> scales = scalesOf(c, dims);
  bool aligned = alignsCorners(c);
  for (unsigned d = 0; d < dims; ++d) {
    Axis a{from[2 + d].value(), to[2 + d].value(), scales[d], aligned};
    if (a.from == a.to && !isAligned(kFilter) && a.scale <= 0)
      continue;
    t = resample(c, t, 2 + d, mapOf(kFilter, a, dtype));
  }
  c.setResult(0, c.cast(t, dtype));
  return success();
}

template <Filter kFilter>
static LogicalResult upsampleBackward(LowerCall &c) {
  LoweredTensor g = c.operand(0);
  DType dtype = g.dtype;
  Dims to = g.dims(), from = dimsOf(c.resultMeta(0));
  if (failed(checkImage(c, from, to)))
    return failure();
  unsigned dims = g.rank() - 2;
  SmallVector<double, 3> scales = scalesOf(c, dims);
  bool aligned = alignsCorners(c);
  if (kFilter == Filter::Cubic && from == to) { // as ATen does it
    c.setResult(0, g);
    return success();
  }
  for (unsigned d = 0; d < dims; ++d)
    g = resampleBackward(
        c, g, 2 + d,
        mapOf(kFilter,
              Axis{from[2 + d].value(), to[2 + d].value(), scales[d], aligned},
              dtype));
  c.setResult(0, c.cast(g, dtype));
  return success();
}

#define FT_UPSAMPLE(name, filter)                                              \
  anyShape(name ".default", upsample<filter>),                                 \
      anyShape(name ".vec", upsample<filter>),                                 \
      anyShape(name "_backward.default", upsampleBackward<filter>)

static const LowerRuleRow kRows[] = {
    FT_UPSAMPLE("upsample_nearest1d", Filter::Nearest),
    FT_UPSAMPLE("upsample_nearest2d", Filter::Nearest),
    FT_UPSAMPLE("upsample_nearest3d", Filter::Nearest),
    FT_UPSAMPLE("_upsample_nearest_exact1d", Filter::NearestExact),
    FT_UPSAMPLE("_upsample_nearest_exact2d", Filter::NearestExact),
    FT_UPSAMPLE("_upsample_nearest_exact3d", Filter::NearestExact),
    FT_UPSAMPLE("upsample_linear1d", Filter::Linear),
    FT_UPSAMPLE("upsample_bilinear2d", Filter::Linear),
    FT_UPSAMPLE("upsample_trilinear3d", Filter::Linear),
    FT_UPSAMPLE("upsample_bicubic2d", Filter::Cubic),
    FT_UPSAMPLE("_upsample_bilinear2d_aa", Filter::LinearAA),
    FT_UPSAMPLE("_upsample_bicubic2d_aa", Filter::CubicAA),
    FT_UPSAMPLE("_upsample_lanczos2d_aa", Filter::LanczosAA),
};

#undef FT_UPSAMPLE

ArrayRef<LowerRuleRow> upsampleLowerRules() { return kRows; }

} // namespace ft
