//===- Loss.cpp - Losses and their gradients ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Losses.h"
#include "tests/interpreter/Pointwise.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

/// loss(self, target, reduction[, parameter])
template <double (*function)(double x, double y, double parameter)>
static void pairLoss(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  double parameter = call.size() > 3 ? call.number(3) : 0;
  stepIn(call.out().dtype);
  std::vector<double> values;
  forEachIndex(broadcastShape({&x, &y}), [&](Index index, int64_t) {
    values.push_back(function(at(x, index), at(y, index), parameter));
  });
  reduceTo(call.out(), values, call.integer(2));
}

/// backward(grad, self, target, reduction[, parameter])
template <double (*derivative)(double x, double y, double parameter)>
static void pairBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1), &y = call.tensor(2);
  double parameter = call.size() > 4 ? call.number(4) : 0;
  Tensor &out = call.out();
  stepIn(out.dtype);
  double scale = call.integer(3) == 1 ? 1 / double(out.numel()) : 1;
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    out.setReal(i, at(grad, index) * scale *
                       derivative(at(x, index), at(y, index), parameter));
  });
}

static double mse(double x, double y, double) { return (x - y) * (x - y); }
static double mseD(double x, double y, double) { return 2 * (x - y); }
static double l1(double x, double y, double) { return std::abs(x - y); }
static double smoothL1(double x, double y, double beta) {
  double z = std::abs(x - y);
  return z < beta ? 0.5 * z * z / beta : z - 0.5 * beta;
}
static double smoothL1D(double x, double y, double beta) {
  double z = x - y;
  return z <= -beta ? -1 : z >= beta ? 1 : z / beta;
}
static double huber(double x, double y, double delta) {
  double z = std::abs(x - y);
  return z <= delta ? 0.5 * z * z : delta * (z - 0.5 * delta);
}
static double huberD(double x, double y, double delta) {
  double z = x - y;
  return z <= -delta ? -delta : z >= delta ? delta : z;
}
static double softMargin(double x, double y, double) {
  return std::log1p(step(std::exp(-x * y)));
}
static double softMarginD(double x, double y, double) {
  double z = step(std::exp(-x * y)); // which may be infinite
  return -y * z / (1 + z);
}

static void klDiv(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  bool logTarget = call.flag(3);
  stepIn(call.out().dtype);
  std::vector<double> values;
  forEachIndex(broadcastShape({&x, &y}), [&](Index index, int64_t) {
    double input = at(x, index), target = at(y, index);
    if (logTarget)
      values.push_back(step(std::exp(target)) * (target - input));
    else
      values.push_back((target == 0 ? 0 : target * std::log(target)) -
                       target * input);
  });
  reduceTo(call.out(), values, call.integer(2));
}

static void binaryCrossEntropy(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  const Tensor *weight = call.optTensor(2);
  std::vector<double> values;
  forEachIndex(x.shape, [&](Index index, int64_t) {
    double p = at(x, index), t = at(y, index);
    double value = (t - 1) * std::max(std::log1p(-p), -100.) -
                   t * std::max(std::log(p), -100.);
    values.push_back(value * (weight ? at(*weight, index) : 1));
  });
  reduceTo(call.out(), values, call.integer(3));
}

static void binaryCrossEntropyBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1), &y = call.tensor(2);
  const Tensor *weight = call.optTensor(3);
  double scale = call.integer(4) == 1 ? 1 / double(x.numel()) : 1;
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    double p = at(x, index), t = at(y, index);
    call.out().setReal(i, at(grad, index) * scale * (p - t) /
                              std::max((1 - p) * p, 1e-12) *
                              (weight ? at(*weight, index) : 1));
  });
}

static void bceWithLogits(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  const Tensor *weight = call.optTensor(2), *positive = call.optTensor(3);
  std::vector<const Tensor *> operands = {&x, &y};
  for (const Tensor *tensor : {weight, positive})
    if (tensor)
      operands.push_back(tensor);
  std::vector<double> values;
  forEachIndex(broadcastShape(operands), [&](Index index, int64_t) {
    double z = at(x, index), t = at(y, index);
    double logSigmoid = std::min(z, 0.) - std::log1p(std::exp(-std::abs(z)));
    double factor = positive ? (at(*positive, index) - 1) * t + 1 : 1;
    double value = (1 - t) * z - factor * logSigmoid;
    values.push_back(value * (weight ? at(*weight, index) : 1));
  });
  reduceTo(call.out(), values, call.integer(4));
}

namespace {
/// Class scores [N, C, rest…] (or [C]) with one class for each place.
struct Classes {
  int64_t count, area;
  Classes(const Tensor &self)
      : count(self.rank() == 1 ? self.shape[0] : self.shape[1]), area(1) {
    for (int64_t d = 2; d < self.rank(); ++d)
      area *= self.shape[d];
  }
  /// Where the score of class `c` at place `i` of the target stands.
  int64_t at(int64_t i, int64_t c) const {
    return (i / area * count + c) * area + i % area;
  }
};
} // namespace

/// (self, target, weight, reduction, ignore_index): output, total weight.
static void nllLoss(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  const Tensor *weight = call.optTensor(2);
  int64_t reduction = call.integer(3), ignore = call.integer(4);
  Classes classes(x);
  double total = 0, weights = 0;
  for (int64_t i = 0, n = y.numel(); i < n; ++i) {
    int64_t c = y.integer(i);
    double value = 0, w = 0;
    if (c != ignore) {
      if (c < 0 || c >= classes.count)
        return call.refuse("a class out of range");
      w = weight ? weight->real(c) : 1;
      value = -w * x.real(classes.at(i, c));
    }
    total += value;
    weights += w;
    if (reduction == 0)
      call.out(0).setReal(i, value);
  }
  if (reduction != 0)
    call.out(0).setReal(0, reduction == 1 ? total / weights : total);
  if (call.results.size() > 1)
    call.out(1).setReal(0, reduction == 0 && x.rank() > 1 ? 0 : weights);
}

/// (grad, self, target, weight, reduction, ignore_index, total_weight)
static void nllLossBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &x = call.tensor(1), &y = call.tensor(2);
  const Tensor *weight = call.optTensor(3);
  int64_t reduction = call.integer(4), ignore = call.integer(5);
  double scale = reduction == 1 ? 1 / call.tensor(6).real(0) : 1;
  Classes classes(x);
  for (int64_t i = 0, n = y.numel(); i < n; ++i) {
    int64_t c = y.integer(i);
    if (c == ignore)
      continue;
    if (c < 0 || c >= classes.count)
      return call.refuse("a class out of range");
    double g = grad.real(reduction == 0 ? i : 0);
    call.out().setReal(classes.at(i, c),
                       -g * scale * (weight ? weight->real(c) : 1));
  }
}

static std::vector<double> logSoftmax(const Tensor &x, const Classes &classes,
                                      int64_t i) {
  double most = -HUGE_VAL, total = 0;
  for (int64_t c = 0; c < classes.count; ++c)
    most = std::max(most, x.real(classes.at(i, c)));
  for (int64_t c = 0; c < classes.count; ++c)
    total += std::exp(x.real(classes.at(i, c)) - most);
  std::vector<double> result;
  for (int64_t c = 0; c < classes.count; ++c)
    result.push_back(x.real(classes.at(i, c)) - most - std::log(total));
  return result;
}

/// (self, target, weight, reduction, ignore_index, label_smoothing); the target
/// is classes, or probabilities in the shape of self.
static void crossEntropy(Call &call) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  const Tensor *weight = call.optTensor(2);
  int64_t reduction = call.integer(3), ignore = call.integer(4);
  double smoothing = call.number(5);
  bool soft = y.shape == x.shape;
  Classes classes(x);
  int64_t places = classes.count ? x.numel() / classes.count : 0;
  std::vector<double> values;
  double weights = 0;
  for (int64_t i = 0; i < places; ++i) {
    std::vector<double> logs = logSoftmax(x, classes, i);
    auto w = [&](int64_t c) { return weight ? weight->real(c) : 1; };
    double value = 0;
    if (soft) {
      for (int64_t c = 0; c < classes.count; ++c) {
        double p = y.real(classes.at(i, c)) * (1 - smoothing) +
                   smoothing / double(classes.count);
        value -= p * w(c) * logs[c];
      }
      weights += 1;
    } else if (y.integer(i) != ignore) {
      int64_t c = y.integer(i);
      if (c < 0 || c >= classes.count)
        return call.refuse("a class out of range");
      value = -(1 - smoothing) * w(c) * logs[c];
      if (smoothing > 0) {
        double all = 0;
        for (int64_t k = 0; k < classes.count; ++k)
          all -= w(k) * logs[k];
        value += smoothing / double(classes.count) * all;
      }
      weights += w(c);
    }
    values.push_back(value);
  }
  if (reduction == 1) {
    double total = 0;
    for (double value : values)
      total += value;
    call.out().setReal(0, total / weights);
    return;
  }
  reduceTo(call.out(), values, reduction);
}

llvm::ArrayRef<OpRow> ft::interpreter::lossOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"mse_loss.default", pairLoss<mse>, Accumulated},
      {"l1_loss.default", pairLoss<l1>, Accumulated},
      {"smooth_l1_loss.default", pairLoss<smoothL1>, Accumulated},
      {"huber_loss.default", pairLoss<huber>, Accumulated},
      {"soft_margin_loss.default", pairLoss<softMargin>, Accumulated},
      {"mse_loss_backward.default", pairBackward<mseD>, Accumulated},
      {"smooth_l1_loss_backward.default", pairBackward<smoothL1D>, Accumulated},
      {"huber_loss_backward.default", pairBackward<huberD>, Accumulated},
      {"soft_margin_loss_backward.default", pairBackward<softMarginD>,
       Accumulated},
      {"kl_div.default", klDiv, Accumulated},
      {"binary_cross_entropy.default", binaryCrossEntropy, Accumulated},
      {"binary_cross_entropy_backward.default", binaryCrossEntropyBackward,
       Accumulated},
      {"binary_cross_entropy_with_logits.default", bceWithLogits, Accumulated},
      {"nll_loss.default", nllLoss, Accumulated},
      {"nll_loss2d.default", nllLoss, Accumulated},
      {"nll_loss_nd.default", nllLoss, Accumulated},
      {"nll_loss_forward.default", nllLoss, Accumulated},
      {"nll_loss2d_forward.default", nllLoss, Accumulated},
      {"nll_loss_backward.default", nllLossBackward, Accumulated},
      {"nll_loss2d_backward.default", nllLossBackward, Accumulated},
      {"cross_entropy_loss.default", crossEntropy, Accumulated},
  };
  return rows;
}
