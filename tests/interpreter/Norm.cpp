//===- Norm.cpp - Batch, layer, group and RMS norms -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Finite.h"
#include "tests/interpreter/Lines.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
struct Moments {
  double mean = 0, variance = 0;
};
} // namespace

template <typename At>
static Moments momentsOf(const Tensor &x, int64_t n, At at) {
  Moments m;
  for (int64_t k = 0; k < n; ++k)
    m.mean += x.real(at(k));
  if (n) // the variance of nothing is NaN, its mean is not
    m.mean /= double(n);
  for (int64_t k = 0; k < n; ++k) {
    double d = x.real(at(k)) - m.mean;
    m.variance += d * d;
  }
  m.variance /= double(n);
  return m;
}

/// The mean of float32 is off by a few roundings, and dividing by a standard
/// deviation far below the mean makes them large: nothing but them is left of
/// numbers that are all the same.
static void openIfNarrow(Call &call, const Moments &m, double eps) {
  if (call.tensor(0).dtype == DType::F32 &&
      std::abs(m.mean) > 30 * std::sqrt(m.variance + eps))
    call.open("a mean far above the standard deviation");
}

static double optional(const Tensor *tensor, int64_t i, double otherwise) {
  return tensor && tensor->numel() ? tensor->real(i) : otherwise;
}

/// How many rows (input, shape, ...) has, which may be rows of no elements.
static int64_t rowsOf(const Call &call) {
  Index shape = call.tensor(0).shape;
  return numelOf(shape.drop_back(call.integers(1).size()));
}

/// Rows of `n` elements: (input, shape, weight, bias, eps).
static void layerNorm(Call &call) {
  const Tensor &x = call.tensor(0);
  int64_t n = numelOf(call.integers(1));
  const Tensor *weight = call.optTensor(2), *bias = call.optTensor(3);
  double eps = call.number(4);
  for (int64_t row = 0, rows = rowsOf(call); row < rows; ++row) {
    Moments m = momentsOf(x, n, [&](int64_t k) { return row * n + k; });
    openIfNarrow(call, m, eps);
    double rstd = 1 / std::sqrt(m.variance + eps);
    for (int64_t k = 0; k < n; ++k)
      call.out().setReal(row * n + k, (x.real(row * n + k) - m.mean) * rstd *
                                              optional(weight, k, 1) +
                                          optional(bias, k, 0));
    if (call.results.size() > 1) {
      call.out(1).setReal(row, m.mean);
      call.out(2).setReal(row, rstd);
    }
  }
}

/// grad, input, shape, mean, rstd, weight, bias, mask.
///
/// (x - mean) rstd is taken as x rstd + b with b rounded to float32, as PyTorch
/// does: where x is close to the mean, what b has lost is all that is left.
static void layerNormBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1),
               &mean = call.tensor(3), &rstd = call.tensor(4);
  const Tensor *weight = call.optTensor(5);
  int64_t n = numelOf(call.integers(2));
  Shape mask = call.integers(7);
  std::vector<double> dw(n), db(n);
  for (int64_t row = 0; n && row < x.numel() / n; ++row) {
    double r = rstd.real(row), mu = mean.real(row), sumG = 0, sumGX = 0;
    double b = x.dtype == DType::F64 ? -r * mu : -roundTo(DType::F32, r * mu);
    for (int64_t k = 0; k < n; ++k) {
      double g = grad.real(row * n + k);
      double z = x.real(row * n + k) * r + b;
      dw[k] += g * z;
      db[k] += g;
      g *= optional(weight, k, 1);
      sumG += g;
      sumGX += g * z;
    }
    for (int64_t k = 0; mask[0] && k < n; ++k) {
      double g = grad.real(row * n + k) * optional(weight, k, 1);
      double z = (x.real(row * n + k) - mu) * r;
      call.out(0).setReal(row * n + k,
                          r * (g - (sumG + z * sumGX) / double(n)));
    }
  }
  for (int64_t k = 0; k < n; ++k) {
    if (mask[1] && call.out(1).numel() == n)
      call.out(1).setReal(k, dw[k]);
    if (mask[2] && call.out(2).numel() == n)
      call.out(2).setReal(k, db[k]);
  }
}

/// The channel of a flat position in [N, C, …].
static int64_t channelOf(int64_t i, const Shape &shape) {
  int64_t area = 1;
  for (size_t d = 2; d < shape.size(); ++d)
    area *= shape[d];
  return i / area % shape[1];
}

namespace {
/// The statistics that one channel is normalized with.
struct ChannelStats {
  double mean = 0, variance = 0, count = 0;
};
} // namespace

static std::vector<ChannelStats> channelStats(const Tensor &x) {
  std::vector<ChannelStats> stats(x.shape[1]);
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    ChannelStats &s = stats[channelOf(i, x.shape)];
    s.mean += x.real(i);
    s.count += 1;
  }
  for (ChannelStats &s : stats)
    s.mean /= s.count;
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    ChannelStats &s = stats[channelOf(i, x.shape)];
    s.variance += (x.real(i) - s.mean) * (x.real(i) - s.mean);
  }
  for (ChannelStats &s : stats)
    s.variance /= s.count;
  return stats;
}

/// All forms: (input, weight, bias[, running_mean, running_var][, training],
/// momentum, eps); results: output, mean and 1/std of the batch (empty in
/// evaluation), new running statistics.
static void batchNorm(Call &call) {
  const Tensor &x = call.tensor(0);
  const Schema &schema = call.schema;
  auto find = [&](llvm::StringRef name) {
    int i = schema.argIndex(name);
    return i >= 0 ? call.optTensor(i) : nullptr;
  };
  const Tensor *weight = find("weight"), *bias = find("bias");
  const Tensor *runningMean = find("running_mean"),
               *runningVar = find("running_var");
  int flag = schema.argIndex("training");
  bool training = flag >= 0
                      ? call.flag(flag)
                      : schema.base.starts_with("_batch_norm_with_update");
  if (!training && (!runningMean || !runningVar))
    return call.refuse("evaluation without running statistics");
  double eps = call.number(schema.argIndex("eps"));
  double momentum = call.number(schema.argIndex("momentum"));
  auto blend = [&](double old, double now) {
    return momentum * now + (1 - momentum) * old;
  };
  std::vector<ChannelStats> stats = channelStats(x), used = stats;
  for (size_t c = 0; !training && c < used.size(); ++c) {
    used[c].mean = optional(runningMean, c, 0);
    used[c].variance = optional(runningVar, c, 1);
  }
  for (size_t c = 0; training && c < used.size(); ++c)
    openIfNarrow(call, {used[c].mean, used[c].variance}, eps);
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    int64_t c = channelOf(i, x.shape);
    double scale = optional(weight, c, 1) / std::sqrt(used[c].variance + eps);
    double shift = optional(bias, c, 0), mean = used[c].mean;
    // As PyTorch's kernel of dense images does it, infinities included.
    call.out().setReal(i, training
                              ? (x.real(i) - mean) * scale + shift
                              : x.real(i) * scale + (shift - mean * scale));
  }
  for (size_t c = 0; c < used.size(); ++c) {
    if (call.results.size() > 2 &&
        call.out(1).numel() == int64_t(used.size())) {
      call.out(1).setReal(c, used[c].mean);
      call.out(2).setReal(c, 1 / std::sqrt(used[c].variance + eps));
    }
    unsigned now = call.results.size() - 2; // the new running statistics
    if (call.results.size() > 4 && call.out(now).numel()) {
      double unbiased =
          stats[c].variance * stats[c].count / std::max(stats[c].count - 1, 0.);
      double m = optional(runningMean, c, 0), v = optional(runningVar, c, 1);
      call.out(now).setReal(c, training ? blend(m, stats[c].mean) : m);
      call.out(now + 1).setReal(c, training ? blend(v, unbiased) : v);
    }
  }
}

/// grad, input, weight, running_mean, running_var, save_mean, save_invstd,
/// train, eps, mask
static void batchNormBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1);
  const Tensor *weight = call.optTensor(2);
  bool train = call.flag(7); // "update" where the statistics are reserved
  double eps = call.number(8);
  Shape mask = call.integers(9);
  int64_t channels = x.shape[1];
  std::vector<double> mean(channels), rstd(channels), sumG(channels),
      sumGZ(channels), count(channels);
  for (int64_t c = 0; c < channels; ++c) {
    mean[c] = train ? optional(call.optTensor(5), c, 0)
                    : optional(call.optTensor(3), c, 0);
    rstd[c] = train ? optional(call.optTensor(6), c, 1)
                    : 1 / std::sqrt(optional(call.optTensor(4), c, 1) + eps);
  }
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    int64_t c = channelOf(i, x.shape);
    sumG[c] += grad.real(i);
    sumGZ[c] += grad.real(i) * (x.real(i) - mean[c]) * rstd[c];
    count[c] += 1;
  }
  for (int64_t i = 0, n = x.numel(); mask[0] && i < n; ++i) {
    int64_t c = channelOf(i, x.shape);
    double z = (x.real(i) - mean[c]) * rstd[c], g = grad.real(i);
    if (train)
      g -= (sumG[c] + z * sumGZ[c]) / count[c];
    call.out(0).setReal(i, g * rstd[c] * optional(weight, c, 1));
  }
  for (int64_t c = 0; c < channels; ++c) {
    if (mask[1] && call.out(1).numel() == channels)
      call.out(1).setReal(c, sumGZ[c]);
    if (mask[2] && call.out(2).numel() == channels)
      call.out(2).setReal(c, sumG[c]);
  }
}

/// Groups of channels of one sample each.
static void groupNormOf(Call &call, int64_t groups, unsigned weightAt,
                        double eps) {
  const Tensor &x = call.tensor(0);
  const Tensor *weight = call.optTensor(weightAt),
               *bias = call.optTensor(weightAt + 1);
  int64_t rows = x.shape[0] * groups;
  int64_t n = rows ? x.numel() / rows : 0;
  for (int64_t row = 0; row < rows; ++row) {
    Moments m = momentsOf(x, n, [&](int64_t k) { return row * n + k; });
    openIfNarrow(call, m, eps);
    double rstd = 1 / std::sqrt(m.variance + eps);
    for (int64_t k = 0; k < n; ++k) {
      int64_t i = row * n + k, c = channelOf(i, x.shape);
      call.out().setReal(i,
                         (x.real(i) - m.mean) * rstd * optional(weight, c, 1) +
                             optional(bias, c, 0));
    }
    if (call.results.size() > 1) {
      call.out(1).setReal(row, m.mean);
      call.out(2).setReal(row, rstd);
    }
  }
}

static void groupNorm(Call &call) {
  groupNormOf(call, call.integer(1), 2, call.number(4));
}
static void nativeGroupNorm(Call &call) {
  groupNormOf(call, call.integer(6), 1, call.number(7));
}

/// grad, input, mean, rstd, weight, N, C, HxW, group, mask
static void groupNormBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1),
               &mean = call.tensor(2), &rstd = call.tensor(3);
  const Tensor *weight = call.optTensor(4);
  int64_t channels = call.integer(6), groups = call.integer(8);
  Shape mask = call.integers(9);
  int64_t rows = x.shape[0] * groups, n = rows ? x.numel() / rows : 0;
  std::vector<double> dw(channels), db(channels);
  for (int64_t row = 0; row < rows; ++row) {
    double sumG = 0, sumGZ = 0, mu = mean.real(row), r = rstd.real(row);
    for (int64_t k = 0; k < n; ++k) {
      int64_t i = row * n + k, c = channelOf(i, x.shape);
      double z = (x.real(i) - mu) * r, g = grad.real(i);
      dw[c] += g * z;
      db[c] += g;
      sumG += g * optional(weight, c, 1);
      sumGZ += g * optional(weight, c, 1) * z;
    }
    for (int64_t k = 0; mask[0] && k < n; ++k) {
      int64_t i = row * n + k, c = channelOf(i, x.shape);
      double z = (x.real(i) - mu) * r;
      double g = grad.real(i) * optional(weight, c, 1);
      call.out(0).setReal(i, r * (g - (sumG + z * sumGZ) / double(n)));
    }
  }
  for (int64_t c = 0; c < channels; ++c) {
    if (mask[1])
      call.out(1).setReal(c, dw[c]);
    if (mask[2])
      call.out(2).setReal(c, db[c]);
  }
}

static void rmsNorm(Call &call) {
  const Tensor &x = call.tensor(0);
  int64_t n = numelOf(call.integers(1));
  const Tensor *weight = call.optTensor(2);
  // The machine epsilon of the type that PyTorch computes in.
  double eps = call.has(3)             ? call.number(3)
               : x.dtype == DType::F64 ? 0x1p-52
                                       : 0x1p-23;
  for (int64_t row = 0, rows = rowsOf(call); row < rows; ++row) {
    double squares = 0;
    for (int64_t k = 0; k < n; ++k)
      squares += x.real(row * n + k) * x.real(row * n + k);
    double rstd = 1 / std::sqrt(squares / double(n) + eps);
    for (int64_t k = 0; k < n; ++k)
      call.out().setReal(row * n + k,
                         x.real(row * n + k) * rstd * optional(weight, k, 1));
    if (call.results.size() > 1)
      call.out(1).setReal(row, rstd);
  }
}

/// (input, weight, bias, running_mean, running_var, use_input_stats, momentum,
/// eps): each channel of each sample by itself.
static void instanceNorm(Call &call) {
  const Tensor &x = call.tensor(0);
  double eps = call.number(7);
  if (!call.flag(5) && (!call.optTensor(3) || !call.optTensor(4)))
    return call.refuse("evaluation without running statistics");
  openIfNotFinite(call, "scales and offsets that are joined first");
  int64_t rows = x.shape[0] * x.shape[1], n = rows ? x.numel() / rows : 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t c = row % x.shape[1];
    Moments m = momentsOf(x, n, [&](int64_t k) { return row * n + k; });
    if (call.flag(5))
      openIfNarrow(call, m, eps);
    else
      m = {optional(call.optTensor(3), c, 0),
           optional(call.optTensor(4), c, 1)};
    for (int64_t k = 0; k < n; ++k)
      call.out().setReal(row * n + k,
                         (x.real(row * n + k) - m.mean) /
                                 std::sqrt(m.variance + eps) *
                                 optional(call.optTensor(1), c, 1) +
                             optional(call.optTensor(2), c, 0));
  }
}

/// (grad, input, normalized_shape, rstd, weight, mask)
static void rmsNormBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1),
               &rstd = call.tensor(3);
  const Tensor *weight = call.optTensor(4);
  int64_t n = numelOf(call.integers(2));
  Shape mask = call.integers(5);
  std::vector<double> dw(n);
  for (int64_t row = 0; n && row < x.numel() / n; ++row) {
    double r = rstd.real(row), sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      double g = grad.real(row * n + k), z = x.real(row * n + k) * r;
      dw[k] += g * z;
      sum += g * optional(weight, k, 1) * z;
    }
    for (int64_t k = 0; mask[0] && k < n; ++k)
      call.out(0).setReal(row * n + k,
                          r * (grad.real(row * n + k) * optional(weight, k, 1) -
                               x.real(row * n + k) * r * sum / double(n)));
  }
  for (int64_t k = 0; mask[1] && call.out(1).numel() == n && k < n; ++k)
    call.out(1).setReal(k, dw[k]);
}

/// Slices along a dim whose p-norm exceeds the limit are scaled down to it.
static void renorm(Call &call) {
  const Tensor &self = call.tensor(0);
  double p = call.number(1), most = call.number(3);
  int64_t dim = call.dim(2, self.rank());
  std::vector<double> norms(self.shape[dim]);
  auto slice = [&](int64_t i) {
    int64_t inner = 1;
    for (int64_t d = dim + 1; d < self.rank(); ++d)
      inner *= self.shape[d];
    return i / inner % self.shape[dim];
  };
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    double a = std::abs(self.complex(i)), &norm = norms[slice(i)];
    norm = std::isnan(a) || std::isnan(norm) ? std::nan("")
           : std::isinf(p)                   ? std::max(norm, a)
                                             : norm + std::pow(a, p);
  }
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    double norm = norms[slice(i)];
    norm = std::isinf(p) ? norm : std::pow(norm, 1 / p);
    call.out().setComplex(i, norm > most
                                 ? self.complex(i) * (most / (norm + 1e-7))
                                 : self.complex(i));
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::normOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"native_layer_norm.default", layerNorm, Accumulated},
      {"layer_norm.default", layerNorm, Accumulated},
      {"native_layer_norm_backward.default", layerNormBackward, Accumulated},
      {"batch_norm.default", batchNorm, Accumulated},
      {"native_batch_norm.default", batchNorm, Accumulated},
      {"_native_batch_norm_legit.no_stats", batchNorm, Accumulated},
      {"_native_batch_norm_legit_no_training.default", batchNorm, Accumulated},
      {"_native_batch_norm_legit_functional.default", batchNorm, Accumulated},
      {"_batch_norm_no_update.default", batchNorm, Accumulated},
      {"_batch_norm_with_update_functional.default", batchNorm, Accumulated},
      {"native_batch_norm_backward.default", batchNormBackward, Accumulated},
      {"batch_norm_backward.default", batchNormBackward, Accumulated},
      {"instance_norm.default", instanceNorm, Accumulated},
      {"_fused_rms_norm_backward.default", rmsNormBackward, Accumulated},
      {"group_norm.default", groupNorm, Accumulated},
      {"native_group_norm.default", nativeGroupNorm, Accumulated},
      {"native_group_norm_backward.default", groupNormBackward, Accumulated},
      {"rms_norm.default", rmsNorm, Accumulated},
      {"_fused_rms_norm.default", rmsNorm, Accumulated},
      {"renorm.default", renorm, Accumulated},
  };
  return rows;
}
