//===- Pool.cpp - Pooling over windows, and its gradients -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
/// One window of one plane: the position of its elements inside the plane, and
/// the number of places that an average divides by.
struct Window {
  std::vector<int64_t> inside;
  int64_t padded = 1;
};
} // namespace

/// The window of output position `at` (spatial dims only).
static Window windowAt(Index at, llvm::ArrayRef<int64_t> size,
                       const Shape &kernel, const Shape &stride,
                       const Shape &padding, const Shape &dilation) {
  Window window;
  size_t rank = size.size();
  for (size_t d = 0; d < rank; ++d) {
    int64_t start = at[d] * stride[d] - padding[d];
    int64_t end = std::min(start + kernel[d], size[d] + padding[d]);
    window.padded *= end - start;
  }
  forEachIndex(kernel, [&](Index k, int64_t) {
    int64_t flat = 0;
    for (size_t d = 0; d < rank; ++d) {
      int64_t x = at[d] * stride[d] - padding[d] + k[d] * dilation[d];
      if (x < 0 || x >= size[d])
        return;
      flat = flat * size[d] + x;
    }
    window.inside.push_back(flat);
  });
  return window;
}

/// An adaptive window: from floor(i n / m) to ceil((i + 1) n / m).
static Window adaptiveAt(Index at, llvm::ArrayRef<int64_t> size,
                         llvm::ArrayRef<int64_t> result) {
  Window window;
  Shape start, extent;
  for (size_t d = 0; d < size.size(); ++d) {
    int64_t first = at[d] * size[d] / result[d];
    int64_t last = ((at[d] + 1) * size[d] + result[d] - 1) / result[d];
    start.push_back(first);
    extent.push_back(last - first);
    window.padded *= last - first;
  }
  forEachIndex(extent, [&](Index k, int64_t) {
    int64_t flat = 0;
    for (size_t d = 0; d < size.size(); ++d)
      flat = flat * size[d] + start[d] + k[d];
    window.inside.push_back(flat);
  });
  return window;
}

namespace {
/// The planes of an image and of its result: `visit(window, base, out)` with
/// the start of the plane in the image and the position in the result.
struct Planes {
  size_t spatial;
  Shape size, result;
  int64_t count, area, resultArea;

  Planes(const Shape &image, const Shape &out, size_t spatial)
      : spatial(spatial), size(image.end() - spatial, image.end()),
        result(out.end() - spatial, out.end()), area(numelOf(size)),
        resultArea(numelOf(result)) {
    Shape outer(image.begin(), image.end() - spatial);
    count = numelOf(outer);
  }
  template <typename WindowOf, typename Visit>
  void each(WindowOf windowOf, Visit visit) const {
    forEachIndex(result, [&](Index at, int64_t position) {
      Window window = windowOf(at);
      for (int64_t plane = 0; plane < count; ++plane)
        visit(window, plane * area, plane * resultArea + position);
    });
  }
};

/// Kernel, stride (the kernel where none is given), padding.
struct Geometry {
  Shape kernel, stride, padding, dilation;
  Geometry(const Call &call, unsigned first, size_t spatial)
      : kernel(call.integers(first, spatial)),
        stride(call.integers(first + 1, spatial)),
        padding(call.integers(first + 2, spatial)), dilation(spatial, 1) {
    if (stride.empty())
      stride = kernel;
  }
};
} // namespace

/// avg_poolNd(self, kernel, stride, padding, ceil_mode, count_include_pad,
/// divisor_override)
template <size_t spatial>
static void avgPool(Call &call) {
  const Tensor &self = call.tensor(0);
  Geometry g(call, 1, spatial);
  bool includePad = call.flag(5);
  Planes planes(self.shape, call.out().shape, spatial);
  planes.each(
      [&](Index at) {
        return windowAt(at, planes.size, g.kernel, g.stride, g.padding,
                        g.dilation);
      },
      [&](const Window &window, int64_t base, int64_t out) {
        double sum = 0;
        for (int64_t i : window.inside)
          sum += self.real(base + i);
        int64_t divisor = call.size() > 6 && call.has(6) ? call.integer(6)
                          : includePad ? window.padded
                                       : int64_t(window.inside.size());
        if (self.whole())
          call.out().setInteger(out, int64_t(sum) / divisor);
        else
          call.out().setReal(out, sum / double(divisor));
      });
}

template <size_t spatial>
static void avgPoolBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &self = call.tensor(1);
  Geometry g(call, 2, spatial);
  bool includePad = call.flag(6);
  Planes planes(self.shape, grad.shape, spatial);
  std::vector<double> sums(self.numel());
  planes.each(
      [&](Index at) {
        return windowAt(at, planes.size, g.kernel, g.stride, g.padding,
                        g.dilation);
      },
      [&](const Window &window, int64_t base, int64_t out) {
        int64_t divisor = call.has(7)  ? call.integer(7)
                          : includePad ? window.padded
                                       : int64_t(window.inside.size());
        for (int64_t i : window.inside)
          sums[base + i] += grad.real(out) / double(divisor);
      });
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

/// The first largest element; NaN is the largest, the last of several.
static int64_t largest(const Tensor &self, const Window &window, int64_t base) {
  int64_t best = -1;
  for (int64_t i : window.inside) {
    double x = self.real(base + i);
    if (best < 0 || x > self.real(base + best) || std::isnan(x))
      best = i;
  }
  return best;
}

static void storeLargest(Call &call, const Tensor &self, const Window &window,
                         int64_t base, int64_t out) {
  int64_t best = largest(self, window, base);
  if (best < 0)
    return call.open("an empty window");
  // -inf and lower bounds of integers lose against the start value.
  if (!self.whole() && self.real(base + best) == -HUGE_VAL)
    call.open("a window of -inf");
  call.out(0).set(out, self, base + best);
  if (call.results.size() > 1)
    call.out(1).setInteger(out, best);
}

template <size_t spatial>
static void maxPool(Call &call) {
  const Tensor &self = call.tensor(0);
  Geometry g(call, 1, spatial);
  g.dilation = call.integers(4, spatial);
  Planes planes(self.shape, call.out().shape, spatial);
  planes.each(
      [&](Index at) {
        return windowAt(at, planes.size, g.kernel, g.stride, g.padding,
                        g.dilation);
      },
      [&](const Window &window, int64_t base, int64_t out) {
        storeLargest(call, self, window, base, out);
      });
}

template <size_t spatial>
static void adaptiveMaxPool(Call &call) {
  const Tensor &self = call.tensor(0);
  Planes planes(self.shape, call.out().shape, spatial);
  planes.each(
      [&](Index at) { return adaptiveAt(at, planes.size, planes.result); },
      [&](const Window &window, int64_t base, int64_t out) {
        storeLargest(call, self, window, base, out);
      });
}

template <size_t spatial>
static void adaptiveAvgPool(Call &call) {
  const Tensor &self = call.tensor(0);
  Planes planes(self.shape, call.out().shape, spatial);
  planes.each(
      [&](Index at) { return adaptiveAt(at, planes.size, planes.result); },
      [&](const Window &window, int64_t base, int64_t out) {
        double sum = 0;
        for (int64_t i : window.inside)
          sum += self.real(base + i);
        call.out().setReal(out, sum / double(window.padded));
      });
}

template <size_t spatial>
static void adaptiveAvgPoolBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &self = call.tensor(1);
  Planes planes(self.shape, grad.shape, spatial);
  std::vector<double> sums(self.numel());
  planes.each(
      [&](Index at) { return adaptiveAt(at, planes.size, planes.result); },
      [&](const Window &window, int64_t base, int64_t out) {
        for (int64_t i : window.inside)
          sums[base + i] += grad.real(out) / double(window.padded);
      });
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

/// Each gradient goes to the element whose index the forward op gave.
template <size_t spatial, unsigned indices>
static void toIndices(Call &call) {
  bool unpool = call.base().contains("unpool");
  const Tensor &grad = call.tensor(0), &index = call.tensor(indices);
  Tensor &out = call.out();
  Planes planes(out.shape, grad.shape, spatial);
  std::vector<double> sums(out.numel());
  for (int64_t i = 0, n = grad.numel(); i < n; ++i) {
    int64_t to = index.integer(i);
    if (to < 0 || to >= planes.area)
      return call.refuse("an index outside of the plane");
    double &sum = sums[i / planes.resultArea * planes.area + to];
    sum = unpool ? grad.real(i) : sum + grad.real(i);
  }
  for (size_t i = 0; i < sums.size(); ++i)
    out.setReal(i, sums[i]);
}

/// The start of pseudo-random interval `i` of `n` (fractional max pooling).
static int64_t fractionalStart(double sample, int64_t size, int64_t count,
                               int64_t kernel, int64_t i) {
  if (i == count - 1)
    return size - kernel;
  float alpha =
      static_cast<float>(size - kernel) / static_cast<float>(count - 1);
  float u = static_cast<float>(sample);
  return static_cast<int64_t>((static_cast<float>(i) + u) * alpha) -
         static_cast<int64_t>(u * alpha);
}

template <size_t spatial>
static void fractionalMaxPool(Call &call) {
  const Tensor &self = call.tensor(0), &samples = call.tensor(3);
  Shape kernel = call.integers(1, spatial);
  Tensor &out = call.out();
  Planes planes(self.shape, out.shape, spatial);
  for (int64_t plane = 0; plane < planes.count; ++plane)
    forEachIndex(planes.result, [&](Index at, int64_t position) {
      Shape start;
      for (size_t d = 0; d < spatial; ++d) {
        // Samples stand last dim first in two dims, in order in three.
        size_t which = spatial == 2 ? 1 - d : d;
        start.push_back(fractionalStart(
            samples.real(plane * int64_t(spatial) + int64_t(which)),
            planes.size[d], planes.result[d], kernel[d], at[d]));
      }
      Window window;
      forEachIndex(kernel, [&](Index k, int64_t) {
        int64_t flat = 0;
        for (size_t d = 0; d < spatial; ++d)
          flat = flat * planes.size[d] + start[d] + k[d];
        window.inside.push_back(flat);
      });
      storeLargest(call, self, window, plane * planes.area,
                   plane * planes.resultArea + position);
    });
}

llvm::ArrayRef<OpRow> ft::interpreter::poolOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"avg_pool1d.default", avgPool<1>, Accumulated},
      {"avg_pool2d.default", avgPool<2>, Accumulated},
      {"avg_pool3d.default", avgPool<3>, Accumulated},
      {"avg_pool2d_backward.default", avgPoolBackward<2>, Accumulated},
      {"avg_pool3d_backward.default", avgPoolBackward<3>, Accumulated},
      {"max_pool1d.default", maxPool<1>, Exact},
      {"max_pool2d.default", maxPool<2>, Exact},
      {"max_pool3d.default", maxPool<3>, Exact},
      {"max_pool1d_with_indices.default", maxPool<1>, Exact},
      {"max_pool2d_with_indices.default", maxPool<2>, Exact},
      {"max_pool3d_with_indices.default", maxPool<3>, Exact},
      {"adaptive_max_pool1d.default", adaptiveMaxPool<1>, Exact},
      {"adaptive_max_pool2d.default", adaptiveMaxPool<2>, Exact},
      {"adaptive_max_pool3d.default", adaptiveMaxPool<3>, Exact},
      {"adaptive_avg_pool1d.default", adaptiveAvgPool<1>, Accumulated},
      {"adaptive_avg_pool2d.default", adaptiveAvgPool<2>, Accumulated},
      {"adaptive_avg_pool3d.default", adaptiveAvgPool<3>, Accumulated},
      {"_adaptive_avg_pool2d.default", adaptiveAvgPool<2>, Accumulated},
      {"_adaptive_avg_pool3d.default", adaptiveAvgPool<3>, Accumulated},
      {"_adaptive_avg_pool2d_backward.default", adaptiveAvgPoolBackward<2>,
       Accumulated},
      {"_adaptive_avg_pool3d_backward.default", adaptiveAvgPoolBackward<3>,
       Accumulated},
      {"max_pool2d_with_indices_backward.default", toIndices<2, 7>,
       Accumulated},
      {"max_pool3d_with_indices_backward.default", toIndices<3, 7>,
       Accumulated},
      {"adaptive_max_pool2d_backward.default", toIndices<2, 2>, Accumulated},
      {"adaptive_max_pool3d_backward.default", toIndices<3, 2>, Accumulated},
      {"fractional_max_pool2d.default", fractionalMaxPool<2>, Exact},
      {"fractional_max_pool3d.default", fractionalMaxPool<3>, Exact},
      {"fractional_max_pool2d_backward.default", toIndices<2, 4>, Accumulated},
      {"fractional_max_pool3d_backward.default", toIndices<3, 4>, Accumulated},
      {"max_unpool2d.default", toIndices<2, 1>, Exact},
      {"max_unpool3d.default", toIndices<3, 1>, Exact},
  };
  return rows;
}
