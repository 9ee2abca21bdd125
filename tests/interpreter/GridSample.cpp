//===- GridSample.cpp - Reading an image at points of a grid --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

#include <array>
#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
enum class Mode { Linear, Nearest, Cubic };
enum class Padding { Zeros, Border, Reflection };

/// A position along a dim, and how it changes with the grid's number.
struct Place {
  double at = 0, slope = 0;
};

/// The elements of a dim that a point reads; -1 for one outside.
struct Taps {
  std::vector<int64_t> from;
  std::vector<double> weight, slope;
};
} // namespace

/// Back and forth between two bounds, given twice.
static Place reflected(Place p, double twiceLow, double twiceHigh) {
  if (twiceLow == twiceHigh)
    return {0, 0};
  double low = twiceLow / 2, span = (twiceHigh - twiceLow) / 2;
  double x = p.at - low, sign = x < 0 ? -1 : 1;
  x = std::abs(x);
  double extra = std::fmod(x, span);
  if (std::fmod(std::floor(x / span), 2) == 0)
    return {extra + low, p.slope * sign};
  return {span - extra + low, -p.slope * sign};
}

static Place padded(Place p, int64_t size, Padding padding, bool corners) {
  if (padding == Padding::Zeros)
    return p;
  if (padding == Padding::Reflection)
    p = corners ? reflected(p, 0, 2. * double(size - 1))
                : reflected(p, -1, 2. * double(size) - 1);
  double most = double(size - 1);
  if (p.at <= 0)
    return {0, 0};
  return p.at >= most ? Place{most, 0} : p;
}

/// Keys' cubic convolution at distance `x`, and its derivative.
static std::pair<double, double> cubic(double x) {
  const double a = -0.75;
  double d = std::abs(x), sign = x < 0 ? -1 : 1;
  if (d <= 1)
    return {((a + 2) * d - (a + 3)) * d * d + 1,
            sign * (3 * (a + 2) * d - 2 * (a + 3)) * d};
  return {((a * d - 5 * a) * d + 8 * a) * d - 4 * a,
          sign * ((3 * a * d - 10 * a) * d + 8 * a)};
}

static Taps tapsOf(Call &call, double x, int64_t size, Mode mode,
                   Padding padding, bool corners) {
  if (std::isnan(x) || std::abs(x) > 1e4)
    call.open("a point far outside");
  double scale = corners ? double(size - 1) / 2 : double(size) / 2;
  Place p = {corners ? (x + 1) * scale : (x + 1) * scale - 0.5, scale};
  Taps taps;
  auto add = [&](int64_t i, double weight, double slope) {
    taps.from.push_back(i >= 0 && i < size ? i : -1);
    taps.weight.push_back(weight);
    taps.slope.push_back(slope);
  };
  auto nearWhole = [](double v) {
    return std::abs(v - std::nearbyint(v)) < 1e-4;
  };
  if (mode == Mode::Cubic) {
    double low = std::floor(p.at);
    if (nearWhole(p.at) && p.at != low)
      call.open("a point beside a pixel");
    for (int k = -1; k <= 2; ++k) {
      auto [weight, slope] = cubic(p.at - (low + k));
      Place tap = padded({low + k, 0}, size, padding, corners);
      add(static_cast<int64_t>(std::clamp(tap.at, -2., double(size) + 2)),
          weight, slope * scale);
    }
    return taps;
  }
  p = padded(p, size, padding, corners);
  if (mode == Mode::Nearest) {
    if (nearWhole(p.at + 0.5))
      call.open("a point between two pixels");
    add(static_cast<int64_t>(std::nearbyint(p.at)), 1, 0);
    return taps;
  }
  if (nearWhole(p.at)) // where the derivative has two sides
    call.open("a point on a pixel");
  double low = std::floor(p.at), w = p.at - low;
  add(static_cast<int64_t>(low), 1 - w, -p.slope);
  add(static_cast<int64_t>(low) + 1, w, p.slope);
  return taps;
}

namespace {
/// What a call samples: [N, C, size...] at [N, points..., dims].
struct Sampling {
  const Tensor &image, &grid;
  Mode mode;
  Padding padding;
  bool corners;

  Sampling(const Call &call, unsigned first)
      : image(call.tensor(first)), grid(call.tensor(first + 1)),
        mode(static_cast<Mode>(call.integer(first + 2))),
        padding(static_cast<Padding>(call.integer(first + 3))),
        corners(call.flag(first + 4)) {}

  /// Visits (batch, point, element of a plane, weight, its derivatives by the
  /// numbers of the grid, in their order: the last dim first).
  template <typename Visit>
  void each(Call &call, Visit visit) const {
    size_t dims = image.shape.size() - 2;
    Shape size(image.shape.begin() + 2, image.shape.end());
    int64_t batch = image.shape[0];
    int64_t points = batch ? grid.numel() / int64_t(dims) / batch : 0;
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t point = 0; point < points; ++point) {
        std::vector<Taps> taps;
        Shape extent;
        for (size_t d = 0; d < dims; ++d) {
          int64_t k = (n * points + point) * int64_t(dims) + int64_t(dims - d);
          taps.push_back(
              tapsOf(call, grid.real(k - 1), size[d], mode, padding, corners));
          extent.push_back(taps.back().from.size());
        }
        forEachIndex(extent, [&](Index tap, int64_t) {
          double weight = 1;
          std::array<double, 3> slopes = {1, 1, 1};
          int64_t from = 0;
          for (size_t d = 0; d < dims; ++d) {
            if (taps[d].from[tap[d]] < 0)
              return;
            from = from * size[d] + taps[d].from[tap[d]];
            weight *= taps[d].weight[tap[d]];
            for (size_t k = 0; k < dims; ++k)
              slopes[dims - 1 - k] *=
                  k == d ? taps[d].slope[tap[d]] : taps[d].weight[tap[d]];
          }
          visit(n, point, from, weight, slopes);
        });
      }
  }
  int64_t channels() const { return image.shape[1]; }
  int64_t area() const { return numelOf(Index(image.shape).drop_front(2)); }
  int64_t points() const {
    return numelOf(Index(grid.shape).drop_front(1).drop_back(1));
  }
};
} // namespace

static void gridSample(Call &call) {
  Sampling s(call, 0);
  std::vector<double> sums(call.out().numel());
  s.each(call, [&](int64_t n, int64_t point, int64_t from, double weight,
                   std::array<double, 3>) {
    for (int64_t c = 0; c < s.channels(); ++c) {
      int64_t plane = n * s.channels() + c;
      sums[plane * s.points() + point] +=
          weight * s.image.real(plane * s.area() + from);
    }
  });
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

/// (grad, input, grid, mode, padding, align_corners, mask). Slopes of taps on
/// one pixel cancel, and what is left of large terms is their rounding: such a
/// gradient is open.
static void gridSampleBackward(Call &call) {
  const Tensor &grad = call.tensor(0);
  Sampling s(call, 1);
  for (const Tensor *t : {&grad, &s.image})
    for (int64_t i = 0, n = t->numel(); i < n; ++i)
      if (!std::isfinite(t->real(i)))
        call.open("an infinite element and a weight of 0");
  auto dims = static_cast<int64_t>(s.image.shape.size()) - 2;
  std::vector<double> image(s.image.numel()), grid(s.grid.numel()),
      terms(s.grid.numel());
  s.each(call, [&](int64_t n, int64_t point, int64_t from, double weight,
                   std::array<double, 3> slopes) {
    for (int64_t c = 0; c < s.channels(); ++c) {
      int64_t plane = n * s.channels() + c;
      double g = grad.real(plane * s.points() + point);
      image[plane * s.area() + from] += weight * g;
      for (int64_t d = 0; d < dims && s.mode != Mode::Nearest; ++d) {
        double term = slopes[d] * g * s.image.real(plane * s.area() + from);
        grid[(n * s.points() + point) * dims + d] += term;
        terms[(n * s.points() + point) * dims + d] += std::abs(term);
      }
    }
  });
  Shape mask = call.integers(6);
  for (size_t i = 0; mask[0] && i < image.size(); ++i)
    call.out(0).setReal(i, image[i]);
  double largest = 1, ofTerms = 0;
  for (size_t i = 0; i < grid.size(); ++i) {
    largest = std::max(largest, std::abs(grid[i]));
    ofTerms = std::max(ofTerms, terms[i]);
  }
  if (mask[1] && ofTerms > 8 * largest)
    call.open("terms that cancel");
  for (size_t i = 0; mask[1] && i < grid.size(); ++i)
    call.out(1).setReal(i, grid[i]);
}

/// The points of an image of `shape`: from -1 to 1, at the corners' or the
/// pixels' middle, the last dim first, and a 1.
static std::vector<double> basePoint(const Shape &shape, Index index,
                                     bool corners) {
  std::vector<double> point;
  for (size_t d = index.size(); d-- > 0;) {
    int64_t n = shape[d + 2];
    double x = n > 1 ? 2. * double(index[d]) / double(n - 1) - 1 : 0;
    if (!corners && n)
      x = n > 1 ? x * double(n - 1) / double(n) : 0;
    point.push_back(x);
  }
  point.push_back(1);
  return point;
}

/// (theta, size, align_corners): [N, points..., dims] = point · thetaᵀ.
static void affineGrid(Call &call) {
  bool backward = call.base().ends_with("backward");
  const Tensor &in = call.tensor(0);
  Shape size = call.integers(1), area(size.begin() + 2, size.end());
  auto dims = static_cast<int64_t>(area.size());
  std::vector<double> sums(call.out().numel());
  for (int64_t n = 0; n < size[0]; ++n)
    forEachIndex(area, [&](Index index, int64_t p) {
      std::vector<double> point = basePoint(size, index, call.flag(2));
      for (int64_t d = 0; d < dims; ++d)
        for (int64_t k = 0; k <= dims; ++k) {
          int64_t out = (n * numelOf(area) + p) * dims + d;
          int64_t theta = (n * dims + d) * (dims + 1) + k;
          if (backward)
            sums[theta] += in.real(out) * point[k];
          else
            sums[out] += in.real(theta) * point[k];
        }
    });
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

llvm::ArrayRef<OpRow> ft::interpreter::gridSampleOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"grid_sampler.default", gridSample, Accumulated},
      {"grid_sampler_2d.default", gridSample, Accumulated},
      {"grid_sampler_3d.default", gridSample, Accumulated},
      {"grid_sampler_2d_backward.default", gridSampleBackward, Accumulated},
      {"grid_sampler_3d_backward.default", gridSampleBackward, Accumulated},
      {"affine_grid_generator.default", affineGrid, Accumulated},
      {"affine_grid_generator_backward.default", affineGrid, Accumulated},
  };
  return rows;
}
