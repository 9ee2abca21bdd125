//===- Upsample.cpp - Resizing images -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
enum class Kind {
  Nearest,
  NearestExact,
  Linear,
  Cubic,
  SmoothLinear,
  SmoothCubic,
  SmoothLanczos
};

/// The elements of a dim that one element of the result is made of.
struct Taps {
  std::vector<int64_t> from;
  std::vector<double> weight;
};
} // namespace

static double cubicWeight(double distance) {
  const double a = -0.75;
  double x = std::abs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// The filters that grow with the factor of shrinking ("antialias"), and how
/// far they reach.
static double smoothWeight(Kind kind, double x) {
  x = std::abs(x);
  if (kind == Kind::SmoothLinear)
    return std::max(1 - x, 0.);
  if (kind == Kind::SmoothLanczos) {
    if (x == 0 || x >= 3)
      return x == 0;
    return 3 * std::sin(M_PI * x) * std::sin(M_PI * x / 3) /
           (M_PI * M_PI * x * x);
  }
  const double a = -0.5;
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}
static Taps smoothTaps(Kind kind, int64_t i, int64_t size, double ratio) {
  double reach = kind == Kind::SmoothLinear  ? 1
                 : kind == Kind::SmoothCubic ? 2
                                             : 3;
  double wide = std::max(ratio, 1.), center = ratio * (double(i) + 0.5);
  double support = reach * wide, total = 0;
  auto low = std::max<int64_t>(int64_t(center - support + 0.5), 0);
  auto high = std::min<int64_t>(int64_t(center + support + 0.5), size);
  Taps taps;
  for (int64_t k = low; k < high; ++k) {
    taps.from.push_back(k);
    taps.weight.push_back(
        smoothWeight(kind, (double(k) - center + 0.5) / wide));
    total += taps.weight.back();
  }
  for (double &weight : taps.weight)
    weight /= total;
  return taps;
}

/// `scale` is the factor that the caller gave, 0 for none. Positions are worked
/// out in `dtype`'s type of computation, since rounding decides the neighbour.
static Taps tapsOf(Kind kind, int64_t i, int64_t size, int64_t result,
                   bool alignCorners, double scale, bool wide) {
  auto round = [&](double x) { return wide ? x : roundTo(DType::F32, x); };
  double ratio =
      scale > 0 ? round(1 / scale) : round(double(size) / double(result));
  Taps taps;
  auto add = [&](int64_t from, double weight) {
    taps.from.push_back(std::clamp<int64_t>(from, 0, size - 1));
    taps.weight.push_back(weight);
  };
  if (kind == Kind::Nearest || kind == Kind::NearestExact) {
    // Nearest neighbours are always found in float32.
    float r = scale > 0 ? static_cast<float>(1 / scale)
                        : static_cast<float>(size) / static_cast<float>(result);
    float x = kind == Kind::Nearest
                  ? std::floor(static_cast<float>(i) * r)
                  : std::floor((static_cast<float>(i) + 0.5f) * r);
    add(static_cast<int64_t>(x), 1);
    return taps;
  }
  if (kind == Kind::Linear && size == result) { // whatever the scale
    add(i, 1);
    add(i, 0);
    return taps;
  }
  if (kind >= Kind::SmoothLinear) {
    if (alignCorners)
      ratio = result > 1 ? double(size - 1) / double(result - 1) : 0;
    return smoothTaps(kind, i, size, ratio);
  }
  double source;
  if (alignCorners)
    source = result > 1
                 ? round(round(double(size - 1) / double(result - 1)) * i)
                 : 0;
  else
    source = round(round(ratio * (i + 0.5)) - 0.5);
  if (kind == Kind::Linear) {
    source = std::max(source, 0.);
    int64_t low = std::min(static_cast<int64_t>(source), size - 1);
    double w = std::clamp(source - double(low), 0., 1.);
    add(low, 1 - w);
    add(low < size - 1 ? low + 1 : low, w);
    return taps;
  }
  double low = std::floor(source), t = source - low;
  for (int k = -1; k <= 2; ++k)
    add(static_cast<int64_t>(low) + k, cubicWeight(t - k));
  return taps;
}

namespace {
/// The mapping from an image to its resized form, dim by dim.
struct Resize {
  std::vector<std::vector<Taps>> dims;
  Shape size, result;
  int64_t planes = 1;

  /// Visits (element of the image, element of the result, weight).
  template <typename Visit>
  void each(Visit visit) const {
    int64_t area = numelOf(size), resultArea = numelOf(result);
    forEachIndex(result, [&](Index at, int64_t out) {
      Shape extent;
      for (size_t d = 0; d < at.size(); ++d)
        extent.push_back(dims[d][at[d]].from.size());
      forEachIndex(extent, [&](Index tap, int64_t) {
        double weight = 1;
        int64_t from = 0;
        for (size_t d = 0; d < at.size(); ++d) {
          const Taps &taps = dims[d][at[d]];
          weight *= taps.weight[tap[d]];
          from = from * size[d] + taps.from[tap[d]];
        }
        for (int64_t plane = 0; plane < planes; ++plane)
          visit(plane * area + from, plane * resultArea + out, weight);
      });
    });
  }
};
} // namespace

static Resize resizeOf(const Call &call, Kind kind, const Shape &image,
                       const Shape &out, DType dtype) {
  size_t spatial = image.size() - 2;
  Resize resize;
  resize.planes = image[0] * image[1];
  resize.size.assign(image.begin() + 2, image.end());
  resize.result.assign(out.begin() + 2, out.end());
  int align = call.schema.argIndex("align_corners");
  bool corners = align >= 0 && call.flag(align);
  std::vector<double> scales(spatial, 0);
  if (int list = call.schema.argIndex("scale_factors"); list >= 0) {
    for (size_t d = 0; d < call.args[list].list.size(); ++d)
      scales[d] = call.args[list].list[d].real;
  } else {
    // scales, or scales_d, scales_h, scales_w: the last arguments
    for (size_t d = 0; d < spatial; ++d) {
      unsigned i = call.size() - spatial + d;
      scales[d] = call.has(i) ? call.number(i) : 0;
    }
  }
  bool wide = dtype == DType::F64;
  for (size_t d = 0; d < spatial; ++d) {
    resize.dims.emplace_back();
    for (int64_t i = 0; i < resize.result[d]; ++i)
      resize.dims[d].push_back(tapsOf(kind, i, resize.size[d], resize.result[d],
                                      corners, scales[d], wide));
  }
  return resize;
}

/// Whether an element at the end of a filter's reach is read with the weight 0
/// or not at all hangs on a rounding: it must not be infinite.
static bool isSafe(Call &call, Kind kind, const Tensor &read) {
  for (int64_t i = 0, n = kind >= Kind::SmoothLinear ? read.numel() : 0; i < n;
       ++i)
    if (!std::isfinite(read.real(i)))
      call.open("an infinite element under a filter");
  return call.unspecified.empty();
}

template <Kind kind>
static void upsample(Call &call) {
  const Tensor &self = call.tensor(0);
  if (!isSafe(call, kind, self))
    return;
  Tensor &out = call.out();
  Resize resize = resizeOf(call, kind, self.shape, out.shape, self.dtype);
  if (kind == Kind::Nearest || kind == Kind::NearestExact) {
    resize.each(
        [&](int64_t from, int64_t to, double) { out.set(to, self, from); });
    return;
  }
  std::vector<double> sums(out.numel(), -0.0); // -0 + x is x, for x = -0 too
  resize.each([&](int64_t from, int64_t to, double weight) {
    sums[to] += weight * self.real(from);
  });
  for (size_t i = 0; i < sums.size(); ++i)
    out.setReal(i, sums[i]);
}

template <Kind kind>
static void upsampleBackward(Call &call) {
  const Tensor &grad = call.tensor(0);
  if (!isSafe(call, kind, grad))
    return;
  Tensor &out = call.out();
  if (kind == Kind::Cubic && out.shape == grad.shape) {
    out = grad;
    return;
  }
  Resize resize = resizeOf(call, kind, out.shape, grad.shape, grad.dtype);
  std::vector<double> sums(out.numel());
  resize.each([&](int64_t from, int64_t to, double weight) {
    sums[from] += weight * grad.real(to);
  });
  for (size_t i = 0; i < sums.size(); ++i)
    out.setReal(i, sums[i]);
}

llvm::ArrayRef<OpRow> ft::interpreter::upsampleOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"upsample_nearest1d.default", upsample<Kind::Nearest>, Exact},
      {"upsample_nearest2d.default", upsample<Kind::Nearest>, Exact},
      {"upsample_nearest3d.default", upsample<Kind::Nearest>, Exact},
      {"upsample_nearest1d.vec", upsample<Kind::Nearest>, Exact},
      {"upsample_nearest2d.vec", upsample<Kind::Nearest>, Exact},
      {"upsample_nearest3d.vec", upsample<Kind::Nearest>, Exact},
      {"_upsample_nearest_exact1d.default", upsample<Kind::NearestExact>,
       Exact},
      {"_upsample_nearest_exact1d.vec", upsample<Kind::NearestExact>, Exact},
      {"_upsample_nearest_exact2d.default", upsample<Kind::NearestExact>,
       Exact},
      {"_upsample_nearest_exact2d.vec", upsample<Kind::NearestExact>, Exact},
      {"_upsample_nearest_exact3d.default", upsample<Kind::NearestExact>,
       Exact},
      {"_upsample_nearest_exact3d.vec", upsample<Kind::NearestExact>, Exact},
      {"upsample_linear1d.default", upsample<Kind::Linear>, Accumulated},
      {"upsample_bilinear2d.default", upsample<Kind::Linear>, Accumulated},
      {"upsample_trilinear3d.default", upsample<Kind::Linear>, Accumulated},
      {"upsample_linear1d.vec", upsample<Kind::Linear>, Accumulated},
      {"upsample_bilinear2d.vec", upsample<Kind::Linear>, Accumulated},
      {"upsample_trilinear3d.vec", upsample<Kind::Linear>, Accumulated},
      {"upsample_bicubic2d.default", upsample<Kind::Cubic>, Accumulated},
      {"upsample_bicubic2d.vec", upsample<Kind::Cubic>, Accumulated},
      {"_upsample_bilinear2d_aa.default", upsample<Kind::SmoothLinear>,
       Accumulated},
      {"_upsample_bilinear2d_aa.vec", upsample<Kind::SmoothLinear>,
       Accumulated},
      {"_upsample_bicubic2d_aa.default", upsample<Kind::SmoothCubic>,
       Accumulated},
      {"_upsample_bicubic2d_aa.vec", upsample<Kind::SmoothCubic>, Accumulated},
      {"_upsample_lanczos2d_aa.default", upsample<Kind::SmoothLanczos>,
       Accumulated},
      {"_upsample_lanczos2d_aa.vec", upsample<Kind::SmoothLanczos>,
       Accumulated},
      {"_upsample_bilinear2d_aa_backward.default",
       upsampleBackward<Kind::SmoothLinear>, Accumulated},
      {"_upsample_bicubic2d_aa_backward.default",
       upsampleBackward<Kind::SmoothCubic>, Accumulated},
      {"_upsample_lanczos2d_aa_backward.default",
       upsampleBackward<Kind::SmoothLanczos>, Accumulated},
      {"upsample_nearest1d_backward.default", upsampleBackward<Kind::Nearest>,
       Accumulated},
      {"upsample_nearest2d_backward.default", upsampleBackward<Kind::Nearest>,
       Accumulated},
      {"upsample_nearest3d_backward.default", upsampleBackward<Kind::Nearest>,
       Accumulated},
      {"_upsample_nearest_exact1d_backward.default",
       upsampleBackward<Kind::NearestExact>, Accumulated},
      {"_upsample_nearest_exact2d_backward.default",
       upsampleBackward<Kind::NearestExact>, Accumulated},
      {"_upsample_nearest_exact3d_backward.default",
       upsampleBackward<Kind::NearestExact>, Accumulated},
      {"upsample_linear1d_backward.default", upsampleBackward<Kind::Linear>,
       Accumulated},
      {"upsample_bilinear2d_backward.default", upsampleBackward<Kind::Linear>,
       Accumulated},
      {"upsample_trilinear3d_backward.default", upsampleBackward<Kind::Linear>,
       Accumulated},
      {"upsample_bicubic2d_backward.default", upsampleBackward<Kind::Cubic>,
       Accumulated},
  };
  return rows;
}
