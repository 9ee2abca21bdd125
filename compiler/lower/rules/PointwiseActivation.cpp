//===- PointwiseActivation.cpp - Formulas of activations ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activation functions and their derivatives as ATen defines them. In the
// `_backward` forms argument 0 is the gradient of the result.

#include "compiler/lower/rules/PointwiseBody.h"

#include <limits>

using namespace mlir;

namespace ft {

using P = PointwiseBody;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kSqrt1_2 = 0.70710678118654752440;
static constexpr double kSqrt2OverPi = 0.79788456080286535588;
static constexpr double kInvSqrt2Pi = 0.39894228040143267794;
/// The cubic term of gelu's tanh form.
static constexpr double kGeluCubic = 0.044715;
static constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
static constexpr double kSeluScale = 1.0507009873554804934193349852946;

/// x where x > limit, otherwise `below`; NaN gives `below`.
static Value above(P &p, Value x, Number limit, Value then, Value below) {
  return p.select(p.lt(p.like(x, limit), x), then, below);
}

static Value clampBetween(P &p, Value x, Number low, Number high) {
  return p.min(p.max(x, p.like(x, low)), p.like(x, high));
}

/// relu(self + alpha other)
static Value addRelu(P &p) {
  Value y = p.add(p[0], p.scaled(p[1], 2));
  return p.max(y, p.zero(y));
}

static Value relu(P &p) { return p.max(p[0], p.zero(p[0])); }

static Value gelu(P &p) {
  Value x = p[0];
  Value inner;
  if (p.text(1) == "tanh")
    inner = p.tanh(p.mul(p.add(x, p.mul(p.mul(p.square(x), x), kGeluCubic)),
                         kSqrt2OverPi));
  else
    inner = p.erf(p.mul(x, kSqrt1_2));
  if (p.text(1) == "tanh" || p.dtype != DType::F32)
    return p.mul(p.mul(x, 0.5), p.add(inner, 1));
  // PyTorch's vector kernel forms 2 x on the way, and NaN from infinity.
  Value y = p.mul(p.mul(x, p.add(inner, 1)), 0.5);
  return p.select(p.eq(x, p.like(x, kInf)), p.like(x, kNan), y);
}

/// (grad, self)
static Value exactGeluBackward(P &p) {
  Value g = p[0], x = p[1];
  Value cdf = p.mul(p.add(p.erf(p.mul(x, kSqrt1_2)), 1), 0.5);
  Value pdf = p.mul(p.exp(p.mul(p.square(x), -0.5)), kInvSqrt2Pi);
  return p.mul(g, p.add(cdf, p.mul(x, pdf)));
}

static Value geluBackward(P &p) {
  if (p.text(2) != "tanh")
    return exactGeluBackward(p);
  Value g = p[0], x = p[1];
  Value x2 = p.square(x);
  Value t =
      p.tanh(p.mul(p.add(x, p.mul(p.mul(x2, x), kGeluCubic)), kSqrt2OverPi));
  Value slope = p.mul(p.add(p.mul(x2, 3 * kGeluCubic), 1), kSqrt2OverPi);
  Value tail = p.mul(p.mul(x, 0.5), p.mul(p.sub(p.one(t), p.square(t)), slope));
  return p.mul(g, p.add(p.mul(p.add(t, 1), 0.5), tail));
}

/// scale * (x for x > 0, alpha * expm1(inputScale * x) below)
static Value expLinear(P &p, Value x, Number alpha, Number scale,
                       Number inputScale) {
  Value low = p.mul(p.expm1(p.mul(x, inputScale)), alpha * scale);
  return p.select(p.lt(x, p.zero(x)), low, p.mul(x, scale));
}

static Value eluBackward(P &p) {
  Value g = p[0], x = p[5];
  Number alpha = p.number(1), scale = p.number(2), inputScale = p.number(3);
  Value slope = p.flag(4) ? p.mul(p.add(x, alpha * scale), inputScale)
                          : p.mul(p.exp(p.mul(x, inputScale)),
                                  alpha * scale * inputScale);
  return p.select(p.le(x, p.zero(x)), p.mul(g, slope), p.mul(g, scale));
}

static Value softplus(P &p, Value x, Number beta, Number threshold) {
  Value z = p.mul(x, beta);
  Value soft = p.mul(p.log1p(p.exp(z)), Number(1) / beta);
  return above(p, z, threshold, x, soft);
}

static Value softplusBackward(P &p) {
  Value g = p[0], z = p.mul(p[1], p.number(2));
  Value e = p.exp(z);
  Value soft = p.div(p.mul(g, e), p.add(e, 1));
  return above(p, z, p.number(3), g, soft);
}

/// Zero where |x| <= lambda.
static Value outside(P &p, Value x, Number lambda, Value then) {
  Value inside = p.le(p.abs(x), p.like(x, lambda));
  return p.select(inside, p.zero(then), then);
}

static Value softshrink(P &p) {
  Value x = p[0];
  Number lambda = p.number(1);
  Value low = p.select(p.lt(x, p.like(x, -lambda)), p.add(x, lambda),
                       p.mul(x, 0)); // NaN stays NaN
  return above(p, x, lambda, p.add(x, -lambda), low);
}

static Value logSigmoid(P &p) {
  Value x = p[0];
  return p.sub(p.min(x, p.zero(x)), p.log1p(p.exp(p.neg(p.abs(x)))));
}

static Value logSigmoidBackward(P &p) {
  Value g = p[0], x = p[1];
  Value z = p.exp(p.neg(p.abs(x)));
  Value ratio = p.div(z, p.add(z, 1));
  Value low = p.sub(p.one(x), ratio);
  return p.mul(g, p.select(p.lt(x, p.zero(x)), low, ratio));
}

/// The bounds are of the result's dtype: 1 - 1e-5 is 1 as a float16.
/// A negative eps bounds nothing.
static bool hasBounds(P &p, unsigned eps) {
  return p.has(eps) && !(p.number(eps).isKnown() && p.known(eps) < 0);
}

/// Bounds cross where eps > 1/2: the lower one is looked at first.
static Value logit(P &p) {
  Value x = p[0];
  if (hasBounds(p, 1)) {
    auto rounded = [&](Value v) {
      return p.cast(p.cast(v, p.dtype, p.resultDtype), p.resultDtype, p.dtype);
    };
    Value low = rounded(p.like(x, p.number(1)));
    Value high = rounded(p.sub(p.one(x), low));
    x = p.select(p.lt(x, low), low, p.select(p.gt(x, high), high, x));
  }
  return p.log(p.div(x, p.sub(p.one(x), x)));
}

static Value logitBackward(P &p) {
  Value g = p[0], x = p[1];
  // At -0 too the slope is +inf.
  Value inner = p.div(g, p.abs(p.mul(x, p.sub(p.one(x), x))));
  bool bounded = hasBounds(p, 2);
  Number eps = bounded ? p.number(2) : Number(0);
  Value out =
      p.bitOr(p.lt(x, p.like(x, eps)), p.lt(p.like(x, Number(1) - eps), x));
  double beyond = bounded ? 0 : std::numeric_limits<double>::quiet_NaN();
  return p.select(out, p.like(x, beyond), inner);
}

static Value siluBackward(P &p) {
  Value g = p[0], x = p[1];
  Value s = p.sigmoid(x);
  return p.mul(p.mul(g, s), p.add(p.mul(x, p.sub(p.one(s), s)), p.one(s)));
}

static Value mish(P &p) { return p.mul(p[0], p.tanh(p.log1p(p.exp(p[0])))); }

static Value mishBackward(P &p) {
  Value g = p[0], x = p[1];
  Value t = p.tanh(p.log1p(p.exp(x)));
  Value slope = p.mul(p.mul(x, p.sigmoid(x)), p.sub(p.one(t), p.square(t)));
  return p.mul(g, p.add(t, slope));
}

static Value hardsigmoid(P &p) {
  return p.mul(clampBetween(p, p.add(p[0], 3), 0, 6), 1.0 / 6);
}

/// In this order: the product may overflow before the division, as in ATen.
static Value hardswish(P &p) {
  Value inner = clampBetween(p, p.add(p[0], 3), 0, 6);
  return p.mul(p.mul(p[0], inner), 1.0 / 6);
}

static Value hardswishBackward(P &p) {
  Value g = p[0], x = p[1];
  Value middle = p.mul(g, p.add(p.mul(x, 1.0 / 3), 0.5));
  Value high = p.select(p.lt(x, p.like(x, 3)), middle, g);
  return p.select(p.le(x, p.like(x, -3)), p.zero(g), high);
}

/// The gradient where low < x < high, else zero.
static Value between(P &p, Value g, Value x, Number low, Number high) {
  Value inside = p.bitAnd(p.lt(p.like(x, low), x), p.lt(x, p.like(x, high)));
  return p.select(inside, g, p.zero(g));
}

/// The same, but NaN lets the gradient pass.
static Value notBeyond(P &p, Value g, Value x, Number low, Number high) {
  Value beyond = p.bitOr(p.le(x, p.like(x, low)), p.le(p.like(x, high), x));
  return p.select(beyond, p.zero(g), g);
}

static Value prelu(P &p) { return above(p, p[0], 0, p[0], p.mul(p[0], p[1])); }

/// The gradient times a derivative, conjugated if it is complex.
static Value timesSlope(P &p, Value slope) {
  if (p.isComplex())
    slope = p.makeComplex(p.real(slope), p.neg(p.imag(slope)));
  return p.mul(p[0], slope);
}

static Value sinc(P &p) {
  Value x = p.mul(p[0], 3.14159265358979323846);
  return p.select(p.eq(x, p.zero(x)), p.one(x), p.div(p.sin(x), x));
}

static const FormulaRow kRows[] = {
    {"relu.default", relu},
    {"relu6.default", [](P &p) { return clampBetween(p, p[0], 0, 6); }},
    {"hardtanh.default", [](P &p) { return p.min(p.max(p[0], p[1]), p[2]); }},
    {"hardtanh_backward.default",
     [](P &p) { return notBeyond(p, p[0], p[1], p.number(2), p.number(3)); }},
    {"threshold.default",
     [](P &p) { return p.select(p.le(p[0], p[1]), p[2], p[0]); }},
    {"threshold_backward.default",
     [](P &p) { return p.select(p.le(p[1], p[2]), p.zero(p[0]), p[0]); },
     ComputeIn::Tensors},
    {"sigmoid.default", [](P &p) { return p.sigmoid(p[0]); }},
    {"special_expit.default", [](P &p) { return p.sigmoid(p[0]); }},
    {"sigmoid_backward.default",
     [](P &p) {
       // In this order: the slope alone may overflow.
       Value rest = p.sub(p.one(p[1]), p[1]);
       if (p.isComplex())
         return timesSlope(p, p.mul(rest, p[1]));
       return p.mul(p.mul(p[0], rest), p[1]);
     }},
    {"tanh_backward.default",
     [](P &p) { return timesSlope(p, p.sub(p.one(p[1]), p.square(p[1]))); }},
    {"gelu.default", gelu},
    {"gelu_backward.default", geluBackward},
    {"infinitely_differentiable_gelu_backward.default", exactGeluBackward},
    {"_add_relu.Scalar", addRelu},
    {"_add_relu.Tensor", addRelu},
    {"silu.default",
     [](P &p) { return p.div(p[0], p.add(p.exp(p.neg(p[0])), 1)); }},
    {"silu_backward.default", siluBackward},
    {"mish.default", mish},
    {"mish_backward.default", mishBackward},
    {"hardsigmoid.default", hardsigmoid},
    {"hardsigmoid_backward.default",
     // The sixth is a float32 in ATen, whatever the tensors are.
     [](P &p) { return between(p, p.mul(p[0], 1.0F / 6.0F), p[1], -3, 3); }},
    {"hardswish.default", hardswish},
    {"hardswish_backward.default", hardswishBackward},
    {"leaky_relu.default",
     [](P &p) { return above(p, p[0], 0, p[0], p.mul(p[0], p.number(1))); }},
    {"leaky_relu_backward.default",
     [](P &p) { return above(p, p[1], 0, p[0], p.mul(p[0], p.number(2))); }},
    {"_prelu_kernel.default", prelu},
    {"elu.default",
     [](P &p) {
       return expLinear(p, p[0], p.number(1), p.number(2), p.number(3));
     }},
    {"elu_backward.default", eluBackward},
    {"celu.default",
     [](P &p) {
       return expLinear(p, p[0], p.number(1), 1, Number(1) / p.number(1));
     }},
    {"selu.default",
     [](P &p) { return expLinear(p, p[0], kSeluAlpha, kSeluScale, 1); }},
    {"softplus.default",
     [](P &p) { return softplus(p, p[0], p.number(1), p.number(2)); }},
    {"softplus_backward.default", softplusBackward},
    {"softshrink.default", softshrink},
    {"softshrink_backward.default",
     [](P &p) { return outside(p, p[1], p.number(2), p[0]); }},
    {"hardshrink.default",
     [](P &p) { return outside(p, p[0], p.number(1), p[0]); }},
    {"hardshrink_backward.default",
     [](P &p) { return outside(p, p[1], p.number(2), p[0]); }},
    {"log_sigmoid.default", logSigmoid},
    {"log_sigmoid_backward.default", logSigmoidBackward},
    {"logit.default", logit},
    {"special_logit.default", logit},
    {"logit_backward.default", logitBackward},
    {"sinc.default", sinc},
    {"special_sinc.default", sinc},
};

ArrayRef<FormulaRow> activationFormulas() { return kRows; }

} // namespace ft
