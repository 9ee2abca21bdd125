//===- Upsample.cpp - Lowering of image resizing --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resizing is one linear map along each spatial dim, known at compile time
// (Resample.h). Positions follow ATen's arithmetic: float32, or double for
// double images, because a floor is taken of them.

#include "compiler/lower/rules/Upsample.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace ft {

namespace {
/// A ResizedDim of sizes that are numbers.
struct Axis {
  int64_t from, to;
  double scale;
  bool alignCorners;
};
} // namespace

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

static Resampling mapOf(Filter f, const ResizedDim &dim, DType dtype) {
  Axis a{dim.from.value(), dim.to.value(), dim.scale, dim.alignCorners};
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
    for (auto [d, f] : llvm::enumerate(factors.list)) {
      c.noteRead(static_cast<unsigned>(list), f);
      scales[d] =
          f.kind == Arg::Int ? static_cast<double>(f.dim.value()) : f.real;
    }
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

/// What each spatial dim is resized by. Fails if a filter is asked for whose
/// taps no kernel can know beforehand.
static FailureOr<SmallVector<ResizedDim>>
resizedDims(LowerCall &c, Filter f, ArrayRef<Dim> from, ArrayRef<Dim> to) {
  auto space = static_cast<unsigned>(from.size()) - 2;
  SmallVector<double, 3> scales = scalesOf(c, space);
  bool aligned = alignsCorners(c);
  SmallVector<ResizedDim> dims;
  for (unsigned d = 0; d < space; ++d) {
    dims.push_back({from[2 + d], to[2 + d], scales[d], aligned});
    bool isStatic = from[2 + d].isStatic() && to[2 + d].isStatic();
    if (!isStatic && isAntialiased(f))
      return c.unsupported("antialiasing of images whose size is only known at "
                           "run time");
  }
  return dims;
}

static bool isKnown(const ResizedDim &d) {
  return d.from.isStatic() && d.to.isStatic();
}

template <Filter kFilter>
static LogicalResult upsample(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  DType dtype = t.dtype;
  auto dims = resizedDims(c, kFilter, t.dims(), dimsOf(c.resultMeta(0)));
  if (failed(dims))
    return failure();
  for (auto [i, d] : llvm::enumerate(*dims)) {
    unsigned at = 2 + static_cast<unsigned>(i);
    if (d.from == d.to && !isAligned(kFilter) && d.scale <= 0)
      continue;
    t = isKnown(d) ? resample(c, t, at, mapOf(kFilter, d, dtype))
                   : resample(c, t, at, resizedInRun(c, kFilter, d, dtype));
  }
  c.setResult(0, c.cast(t, dtype));
  return success();
}

template <Filter kFilter>
static LogicalResult upsampleBackward(LowerCall &c) {
  LoweredTensor g = c.operand(0);
  DType dtype = g.dtype;
  auto dims = resizedDims(c, kFilter, dimsOf(c.resultMeta(0)), g.dims());
  if (failed(dims))
    return failure();
  auto isKept = [](const ResizedDim &d) { return d.from == d.to; };
  if (kFilter == Filter::Cubic && llvm::all_of(*dims, isKept)) {
    c.setResult(0, g); // as ATen does it
    return success();
  }
  for (auto [i, d] : llvm::enumerate(*dims)) {
    unsigned at = 2 + static_cast<unsigned>(i);
    g = isKnown(d) ? resampleBackward(c, g, at, mapOf(kFilter, d, dtype))
                   : resampleBackward(c, g, at, d.from,
                                      resizedInRun(c, kFilter, d, dtype));
  }
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
