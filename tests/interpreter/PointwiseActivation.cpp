//===- PointwiseActivation.cpp - Activations and their gradients ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Pointwise.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

using D = const double *;
using C = const Complex *;
using I = const int64_t *;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static double clampReal(double x, double low, double high) {
  return std::isnan(x) ? x : std::min(std::max(x, low), high);
}

static double softplus(D x) {
  double scaled = step(x[0] * x[1]);
  return scaled > x[2] ? x[0] : std::log1p(std::exp(scaled)) / x[1];
}

/// A threshold in the type that the tensors are compared in: -2 is 254 of
/// uint8.
static int64_t bound(int64_t threshold, const Call &call, unsigned tensors) {
  return wrapTo(computeType(call, Promote::Operands, tensors), threshold);
}

static double softplusBackward(D x) { // grad, self, beta, threshold
  double scaled = step(x[1] * x[2]);
  double z = std::exp(scaled);
  return scaled > x[3] ? x[0] : x[0] * z / (z + 1);
}

static double elu(D x) { // self, alpha, scale, input_scale
  return x[0] < 0 ? step(std::expm1(x[0] * x[3])) * x[1] * x[2] : x[0] * x[2];
}

static double eluBackward(D x) { // grad, alpha, scale, input_scale, result?, y
  double negative = x[1] * x[2];
  if (!(x[5] <= 0))
    return x[0] * x[2];
  return x[4] != 0 ? x[0] * x[3] * (x[5] + negative)
                   : x[0] * x[3] * negative * std::exp(x[5] * x[3]);
}

static double mish(double x) {
  return x * std::tanh(x > 40 ? x : std::log1p(std::exp(x)));
}

static double mishBackward(D x) { // grad, self
  double t = std::tanh(std::log1p(std::exp(x[1])));
  return x[0] * (t + x[1] * sigmoid(x[1]) * (1 - t * t));
}

static double hardswish(double x) {
  return step(x * clampReal(x + 3, 0, 6)) / 6;
}

static double hardswishBackward(D x) { // grad, self
  if (x[1] <= -3)
    return 0;
  return x[1] < 3 ? x[0] * (x[1] / 3 + 0.5) : x[0];
}

static double siluBackward(D x) { // grad, self
  double s = sigmoid(x[1]);
  return x[0] * s * (1 + x[1] * (1 - s));
}

static double logitBackward(D x) { // grad, self, eps
  bool bounded = x[2] >= 0;
  double low = bounded ? x[2] : 0, high = 1 - low;
  if (x[1] < low || x[1] > high)
    return bounded ? 0 : std::nan("");
  return x[0] / std::abs(x[1] * (1 - x[1])); // at -0 as at 0
}

static const double kSeluAlpha = 1.6732632423543772848170429916717;
static const double kSeluScale = 1.0507009873554804934193349852946;

llvm::ArrayRef<PointwiseRow> ft::interpreter::activationRows() {
  using enum OpClass;
  using enum Promote;
  static const PointwiseRow rows[] = {
      {"relu", Exact, Operands, 1, [](D x) { return x[0] < 0 ? 0 : x[0]; },
       nullptr, [](I x, Call &) { return std::max<int64_t>(x[0], 0); }},
      {"relu6", Exact, Operands, 1, [](D x) { return clampReal(x[0], 0, 6); },
       nullptr, [](I x, Call &) { return std::clamp<int64_t>(x[0], 0, 6); }},
      {"sigmoid special_expit", Elementary, Float, 1,
       [](D x) { return sigmoid(x[0]); },
       [](C x) { return quotient(1, 1. + std::exp(-x[0])); }},
      {"silu", Elementary, Operands, 1,
       [](D x) { return x[0] / (1 + std::exp(-x[0])); },
       [](C x) { return quotient(x[0], 1. + std::exp(-x[0])); }},
      {"log_sigmoid", Elementary, Operands, 1,
       [](D x) {
         return std::min(x[0], 0.) - std::log1p(std::exp(-std::abs(x[0])));
       }},
      {"mish", Elementary, Operands, 1, [](D x) { return mish(x[0]); }},
      {"hardsigmoid", Elementary, Operands, 1,
       [](D x) { return clampReal(x[0] + 3, 0, 6) / 6; }},
      {"hardswish", Elementary, Operands, 1,
       [](D x) { return hardswish(x[0]); }},
      {"hardtanh", Exact, Operands, 1,
       [](D x) { return clampReal(x[0], x[1], x[2]); }, nullptr,
       [](I x, Call &) { return std::min(std::max(x[0], x[1]), x[2]); }},
      {"leaky_relu", Elementary, Operands, 1,
       [](D x) { return x[0] > 0 ? x[0] : x[0] * x[1]; }},
      {"elu", Elementary, Operands, 1, elu},
      {"celu", Elementary, Operands, 1,
       [](D x) { return x[0] < 0 ? x[1] * std::expm1(x[0] / x[1]) : x[0]; }},
      {"selu", Elementary, Operands, 1,
       [](D x) {
         return kSeluScale * (x[0] > 0 ? x[0] : kSeluAlpha * std::expm1(x[0]));
       }},
      {"softplus", Elementary, Operands, 1, softplus},
      {"threshold", Exact, Operands, 1,
       [](D x) { return x[0] <= x[1] ? x[2] : x[0]; }, nullptr,
       [](I x, Call &call) {
         return x[0] <= bound(x[1], call, 1) ? x[2] : x[0];
       }},
      {"hardshrink", Exact, Operands, 1,
       [](D x) { return x[0] >= -x[1] && x[0] <= x[1] ? 0 : x[0]; }},
      {"softshrink", Exact, Operands, 1,
       [](D x) {
         return x[0] > x[1]    ? x[0] - x[1]
                : x[0] < -x[1] ? x[0] + x[1]
                               : x[0] * 0;
       }},
      // Gradients: of the result first, then what the forward op had.
      {"threshold_backward", Exact, Operands, 2,
       [](D x) { return x[1] <= x[2] ? 0 : x[0]; }, nullptr,
       [](I x, Call &call) { return x[1] <= bound(x[2], call, 2) ? 0 : x[0]; }},
      {"sigmoid_backward", Elementary, Operands, 2,
       [](D x) { return step(x[0] * (1 - x[1])) * x[1]; },
       [](C x) { return product(x[0], std::conj(product(1. - x[1], x[1]))); }},
      {"tanh_backward", Elementary, Operands, 2,
       [](D x) { return x[0] * step(1 - step(x[1] * x[1])); },
       [](C x) { return product(x[0], std::conj(1. - product(x[1], x[1]))); }},
      {"silu_backward", Accumulated, Operands, 2, siluBackward},
      {"mish_backward", Accumulated, Operands, 2, mishBackward},
      {"hardsigmoid_backward", Elementary, Operands, 2,
       // The sixth is a float32 in ATen, whatever the tensors are.
       [](D x) { return x[1] > -3 && x[1] < 3 ? x[0] * (1.0F / 6.0F) : 0; }},
      {"hardswish_backward", Accumulated, Operands, 2, hardswishBackward},
      {"hardtanh_backward", Exact, Operands, 2,
       [](D x) { return x[1] <= x[2] || x[1] >= x[3] ? 0 : x[0]; }},
      {"leaky_relu_backward", Elementary, Operands, 2,
       [](D x) { return x[1] > 0 ? x[0] : x[0] * x[2]; }},
      {"elu_backward", Elementary, Operands, 1, eluBackward},
      {"softplus_backward", Elementary, Operands, 2, softplusBackward},
      {"hardshrink_backward softshrink_backward", Exact, Operands, 2,
       [](D x) { return x[1] >= -x[2] && x[1] <= x[2] ? 0 : x[0]; }},
      {"logit_backward", Elementary, Operands, 2, logitBackward},
      {"log_sigmoid_backward", Elementary, Operands, 2,
       [](D x) { return x[0] * sigmoid(-x[1]); }},
      {"_prelu_kernel", Elementary, Operands, 2,
       [](D x) { return x[0] > 0 ? x[0] : x[1] * x[0]; }},
  };
  return rows;
}
