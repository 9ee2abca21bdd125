//===- GradientSamplers.cpp - Arguments of gradients' operators -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

#include <cmath>

using namespace ft;
using namespace ft::random;

static DType wideFloat(Sampler &s) {
  return s.rng.chance(75) ? DType::F32 : DType::F64;
}

/// (grad, self, target, [weight], reduction, [number])
static bool lossBackward(Sampler &s) {
  int x = s.any(0, 3, true);
  Shape shape = s.shapeOf(x);
  DType type = s.dtypeOf(x);
  int64_t reduction = s.rng.between(0, 2);
  s.set(0, s.tensor(type, reduction ? Shape{} : shape));
  s.set(1, x);
  s.set(2, s.schema.base.starts_with("soft_margin")
               ? s.integers(shape, {-1, 1}, type)
               : s.tensor(type, shape));
  for (unsigned i = 3; i < s.args.size(); ++i)
    if (s.schema.args[i].type.kind == SchemaType::Float)
      s.set(i, Arg::floating(s.rng.chance(50) ? 1.0 : 0.5));
    else
      s.setInt(i, reduction);
  return true;
}

/// Probabilities, of which input and target are 0 and 1 here.
static bool probabilityLoss(Sampler &s) {
  bool backward = s.schema.base.ends_with("backward");
  Shape shape = s.shape(0, 3);
  DType type = wideFloat(s);
  int64_t reduction = s.rng.between(0, 2);
  unsigned next = 0;
  if (backward)
    s.set(next++, s.tensor(type, reduction ? Shape{} : shape));
  s.set(next++, s.integers(shape, {0, 1}, type));
  s.set(next++, s.integers(shape, {0, 1}, type));
  if (s.rng.chance(40))
    s.set(next, s.tensor(type, shape));
  s.setInt(next + 1, reduction);
  return true;
}

/// (grad, self, target, weight, reduction, ignore_index, total_weight)
static bool classLossBackward(Sampler &s) {
  int64_t classes = s.rng.between(1, 5), n = s.rng.between(1, 4);
  Shape scores = {n, classes}, targets = {n};
  if (s.schema.base.contains("2d"))
    for (int d = 0; d < 2; ++d) {
      int64_t size = s.rng.between(1, 4);
      scores.push_back(size);
      targets.push_back(size);
    }
  DType type = wideFloat(s);
  int64_t reduction = s.rng.between(0, 2);
  s.set(0, s.tensor(type, reduction ? Shape{} : targets));
  s.set(1, s.tensor(type, scores));
  s.set(2, s.integers(targets, {0, classes - 1}));
  if (s.rng.chance(40))
    s.set(3, s.integers({classes}, {1, 4}, type));
  s.setInt(4, reduction);
  s.setInt(5, s.rng.chance(50) ? -100 : 0);
  s.set(6, s.integers({}, {1, 4}, type));
  return true;
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

static Shape batchOf(Sampler &s) {
  Shape shape;
  if (s.rng.chance(80))
    shape.push_back(s.rng.between(1, 2));
  shape.push_back(s.rng.between(1, 3));
  return shape;
}

static Shape joined(Shape shape, const Shape &more) {
  shape.insert(shape.end(), more.begin(), more.end());
  return shape;
}

/// (grad, self, kernel, stride, padding, …, ceil_mode, …, [indices]); windows
/// start inside of the image, and indices name an element of their window.
template <int spatial>
static bool poolBackward(Sampler &s) {
  bool max = s.schema.base.starts_with("max"), ceil = s.rng.chance(50);
  Shape kernel, stride, padding, dilation, size, result;
  for (int d = 0; d < spatial; ++d) {
    int64_t k = s.rng.between(1, 3), by = s.rng.between(1, 3),
            pad = s.rng.between(0, k / 2),
            apart = max && s.rng.chance(25) ? 2 : 1,
            length = (k - 1) * apart + s.rng.between(1, 5),
            room = length + 2 * pad - (k - 1) * apart - 1,
            windows = (room + (ceil ? by - 1 : 0)) / by + 1;
    if ((windows - 1) * by >= length + pad)
      --windows;
    kernel.push_back(k);
    stride.push_back(by);
    padding.push_back(pad);
    dilation.push_back(apart);
    size.push_back(length);
    result.push_back(windows);
  }
  DType type = s.floatType();
  Shape batch = batchOf(s);
  s.set(0, s.tensor(type, joined(batch, result)));
  s.set(1, s.tensor(type, joined(batch, size)));
  s.setInts(2, kernel);
  s.setInts(3, stride);
  s.setInts(4, padding);
  if (max) {
    s.setInts(5, dilation);
    s.set(6, Arg::truth(ceil));
    int places = s.integers(joined(batch, result), {0, 0});
    Tensor &data = s.program.values[places].data;
    interpreter::forEachIndex(
        data.shape, [&](llvm::ArrayRef<int64_t> at, int64_t flat) {
          at = at.take_back(spatial);
          int64_t place = 0;
          for (int d = 0; d < spatial; ++d) {
            int64_t from = at[d] * stride[d] - padding[d], i;
            do // some element of the window is inside
              i = from + s.rng.between(0, kernel[d] - 1) * dilation[d];
            while (i < 0 || i >= size[d]);
            place = place * size[d] + i;
          }
          data.setInteger(flat, place);
        });
    s.set(7, places);
    return true;
  }
  s.set(5, Arg::truth(ceil));
  s.setBool(6);
  if (s.rng.chance(30))
    s.setInt(7, s.rng.between(1, 5));
  return true;
}

/// (grad, self, [indices])
template <int spatial>
static bool adaptiveBackward(Sampler &s) {
  Shape size, result, batch = batchOf(s);
  int64_t area = 1;
  for (int d = 0; d < spatial; ++d) {
    size.push_back(s.rng.between(1, 7));
    result.push_back(s.rng.between(1, 5));
    area *= size.back();
  }
  DType type = s.floatType();
  s.set(0, s.tensor(type, joined(batch, result)));
  s.set(1, s.tensor(type, joined(batch, size)));
  if (s.args.size() > 2)
    s.set(2, s.integers(joined(batch, result), {0, area - 1}));
  return true;
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static Arg mask(Sampler &s) {
  return Arg::listOf({Arg::truth(s.rng.chance(70)),
                      Arg::truth(s.rng.chance(70)),
                      Arg::truth(s.rng.chance(70))});
}

/// Sets `first` and the argument behind it to the means and the inverse
/// deviations of the parts of x that are one after the other in memory.
static void setStatistics(Sampler &s, unsigned first, int x,
                          const Shape &shape) {
  int mean = s.input(s.dtypeOf(x), shape), rstd = s.input(s.dtypeOf(x), shape);
  // No element of these shares memory with another.
  for (int value : {mean, rstd})
    s.program.values[value].meta =
        TensorMeta::contiguous(s.dtypeOf(x), Dims(shape.begin(), shape.end()));
  const Tensor &data = s.program.values[x].data;
  int64_t parts = interpreter::numelOf(shape);
  int64_t n = parts ? data.numel() / parts : 0;
  for (int64_t part = 0; part < parts; ++part) {
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < n; ++k)
      sum += data.real(part * n + k);
    double mu = n ? sum / double(n) : 0;
    for (int64_t k = 0; k < n; ++k)
      squares += std::pow(data.real(part * n + k) - mu, 2);
    s.program.values[mean].data.setReal(part, mu);
    s.program.values[rstd].data.setReal(
        part, 1 / std::sqrt((n ? squares / double(n) : 0) + 1e-2));
  }
  s.set(first, mean);
  s.set(first + 1, rstd);
}

/// (grad, input, normalized_shape, mean, rstd, weight, bias, mask)
static bool layerNormBackward(Sampler &s) {
  Shape shape = s.shape(1, 4);
  int64_t rank = shape.size(), inner = s.rng.between(1, rank);
  Shape rows(shape.begin(), shape.end() - inner),
      own(shape.end() - inner, shape.end());
  rows.resize(rank, 1);
  DType type = wideFloat(s);
  int x = s.tensor(type, shape);
  s.set(0, s.tensor(type, shape));
  s.set(1, x);
  s.setInts(2, own);
  setStatistics(s, 3, x, rows);
  if (s.rng.chance(60)) {
    s.set(5, s.tensor(type, own));
    s.set(6, s.tensor(type, own));
  }
  s.set(7, mask(s));
  return true;
}

/// (grad, input, mean, rstd, weight, N, C, HxW, group, mask)
static bool groupNormBackward(Sampler &s) {
  int64_t groups = s.rng.between(1, 3), channels = groups * s.rng.between(1, 3);
  Shape shape = {s.rng.between(1, 3), channels};
  int64_t area = 1;
  for (int64_t d = s.rng.between(1, 2); d > 0; --d) {
    shape.push_back(s.rng.between(1, 5));
    area *= shape.back();
  }
  Shape rows = {shape[0], groups};
  DType type = wideFloat(s);
  int x = s.tensor(type, shape);
  s.set(0, s.tensor(type, shape));
  s.set(1, x);
  setStatistics(s, 2, x, rows);
  if (s.rng.chance(60))
    s.set(4, s.tensor(type, {channels}));
  s.setInt(5, shape[0]);
  s.setInt(6, channels);
  s.setInt(7, area);
  s.setInt(8, groups);
  s.set(9, mask(s));
  return true;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// (grad, input_sizes, dim, start, end, step)
static bool sliceBackward(Sampler &s) {
  Shape shape = s.shape(1, 4), cut = shape;
  int64_t d = s.rng.between(0, shape.size() - 1), step = s.rng.between(1, 3);
  int64_t start = s.rng.between(0, shape[d]),
          end = s.rng.between(start, shape[d]);
  cut[d] = (end - start + step - 1) / step;
  s.set(0, s.tensor(s.dtype(), cut));
  s.setInts(1, shape);
  s.setInt(2, d);
  s.setInt(3, start);
  s.setInt(4, end);
  s.setInt(5, step);
  return true;
}

/// (grad, input_sizes, dim, size, step)
static bool unfoldBackward(Sampler &s) {
  Shape shape = s.shape(1, 3);
  int64_t d = s.rng.between(0, shape.size() - 1), step = s.rng.between(1, 3);
  if (shape[d] == 0)
    return false;
  int64_t size = s.rng.between(1, shape[d]);
  Shape windows = shape;
  windows[d] = (shape[d] - size) / step + 1;
  windows.push_back(size);
  s.set(0, s.tensor(s.floatType(), windows));
  s.setInts(1, shape);
  s.setInt(2, d);
  s.setInt(3, size);
  s.setInt(4, step);
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::gradientSamplers() {
  static const SamplerRow rows[] = {
      {"mse_loss_backward smooth_l1_loss_backward huber_loss_backward "
       "soft_margin_loss_backward",
       lossBackward},
      {"binary_cross_entropy binary_cross_entropy_backward", probabilityLoss},
      {"nll_loss_backward nll_loss2d_backward", classLossBackward},
      {"avg_pool2d_backward max_pool2d_with_indices_backward", poolBackward<2>},
      {"avg_pool3d_backward max_pool3d_with_indices_backward", poolBackward<3>},
      {"_adaptive_avg_pool2d_backward adaptive_max_pool2d_backward",
       adaptiveBackward<2>},
      {"_adaptive_avg_pool3d_backward adaptive_max_pool3d_backward",
       adaptiveBackward<3>},
      {"native_layer_norm_backward", layerNormBackward},
      {"native_group_norm_backward", groupNormBackward},
      {"slice_backward", sliceBackward},
      {"unfold_backward", unfoldBackward},
  };
  return rows;
}
