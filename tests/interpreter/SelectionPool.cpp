//===- SelectionPool.cpp - Fractional pooling and unpooling ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

/// Where the windows of one dim start: alpha apart, from a random place.
static std::vector<int64_t> startsOf(DType dtype, double sample, int64_t size,
                                     int64_t result, int64_t window) {
  std::vector<int64_t> starts(result, size - window);
  if (result == 1)
    return starts;
  auto rounded = [&](double x) {
    return roundTo(dtype == DType::F64 ? DType::F64 : DType::F32, x);
  };
  double alpha = rounded(double(size - window) / double(result - 1));
  for (int64_t i = 0; i < result - 1; ++i)
    starts[i] = int64_t(rounded(rounded(double(i) + sample) * alpha)) -
                int64_t(rounded(sample * alpha));
  return starts;
}

/// (self [N, C, size…] or [C, size…], kernel, result, samples [N, C, dims]):
/// maxima, and their places. The samples name the last dim first in 2 dims.
static void fractionalMaxPool(Call &call) {
  const Tensor &self = call.tensor(0), &samples = call.tensor(3);
  Shape kernel = call.integers(1), result = call.integers(2);
  size_t dims = kernel.size();
  Shape size(self.shape.end() - dims, self.shape.end());
  int64_t area = numelOf(size), resultArea = numelOf(result);
  for (int64_t plane = 0; area && plane < self.numel() / area; ++plane) {
    std::vector<std::vector<int64_t>> starts;
    for (size_t d = 0; d < dims; ++d) {
      size_t which = dims == 2 ? 1 - d : d;
      starts.push_back(startsOf(self.dtype,
                                samples.real(plane * int64_t(dims) + which),
                                size[d], result[d], kernel[d]));
    }
    forEachIndex(result, [&](Index index, int64_t flat) {
      double most = -HUGE_VAL;
      int64_t place = -1;
      forEachIndex(kernel, [&](Index k, int64_t) {
        Shape at;
        for (size_t d = 0; d < dims; ++d)
          at.push_back(starts[d][index[d]] + k[d]);
        int64_t i = flatten(size, at);
        double x = self.real(plane * area + i);
        if (std::isnan(x))
          call.open("a maximum of NaN");
        if (x > most || place < 0) {
          most = x;
          place = i;
        }
      });
      call.out(0).setReal(plane * resultArea + flat, most);
      call.out(1).setInteger(plane * resultArea + flat, place);
    });
  }
}

/// (grad, self, kernel, result, indices)
static void fractionalBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &indices = call.tensor(4);
  Shape result = call.integers(3);
  int64_t resultArea = numelOf(result);
  const Shape &shape = call.out().shape;
  int64_t area = numelOf(Index(shape).take_back(result.size()));
  std::vector<double> sums(call.out().numel());
  for (int64_t i = 0, n = grad.numel(); i < n; ++i)
    sums[i / resultArea * area + indices.integer(i)] += grad.real(i);
  for (size_t i = 0; i < sums.size(); ++i)
    call.out().setReal(i, sums[i]);
}

/// (self, indices, size, …): each element at its place, zeros elsewhere.
static void maxUnpool(Call &call) {
  const Tensor &self = call.tensor(0), &indices = call.tensor(1);
  size_t dims = call.base().contains("3d") ? 3 : 2;
  int64_t area = numelOf(Index(call.out().shape).take_back(dims)),
          own = numelOf(Index(self.shape).take_back(dims));
  std::vector<bool> written(call.out().numel());
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    int64_t place = indices.integer(i);
    if (place < 0 || place >= area)
      return call.refuse("an index out of range");
    place += i / own * area;
    if (written[place])
      call.open("a place that is named twice");
    written[place] = true;
    call.out().set(place, self, i);
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::selectionPoolOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"fractional_max_pool2d.default", fractionalMaxPool, Exact},
      {"fractional_max_pool3d.default", fractionalMaxPool, Exact},
      {"fractional_max_pool2d_backward.default", fractionalBackward,
       Accumulated},
      {"fractional_max_pool3d_backward.default", fractionalBackward,
       Accumulated},
      {"max_unpool2d.default", maxUnpool, Exact},
      {"max_unpool3d.default", maxUnpool, Exact},
  };
  return rows;
}
