//===- Quantize.cpp - Simulated quantization, scales of gradients ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   q = zero_point + round(x / scale)    y = (clamp(q) - zero_point) scale
//
// with halves rounded to even. Where x / scale is so near a half that its own
// rounding decides, the call is left open.

#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

namespace {
struct Quantized {
  double value = 0, q = 0;
  bool inside = false;
};

/// The parameters of one call: numbers, tensors of one element, or one element
/// for each place along an axis.
struct Parameters {
  Call &call;
  unsigned first;
  int64_t axis = -1, inner = 1;
  double low, high;
  /// A zero point that is trained is rounded and kept between the bounds.
  bool learned;

  Parameters(Call &call, const Tensor &self, unsigned first, unsigned bounds)
      : call(call), first(first), low(call.number(bounds)),
        high(call.number(bounds + 1)),
        learned(call.base().contains("learnable")) {
    if (int i = call.schema.argIndex("axis"); i >= 0) {
      axis = call.dim(i, self.rank());
      for (int64_t d = axis + 1; d < self.rank(); ++d)
        inner *= self.shape[d];
      count = self.shape[axis];
    }
  }
  int64_t count = 1;
  int64_t placeOf(int64_t i) const { return axis < 0 ? 0 : i / inner % count; }
  double at(unsigned arg, int64_t i) const {
    const Tensor *tensor = call.optTensor(arg);
    return tensor ? tensor->real(placeOf(i)) : call.number(arg);
  }
  /// PyTorch's kernels take a float32, for float64 too.
  double scale(int64_t i) const { return roundTo(DType::F32, at(first, i)); }
  double zero(int64_t i) const {
    double z = at(first + 1, i);
    return learned ? std::min(std::max(std::nearbyint(z), low), high) : z;
  }

  Quantized of(const Tensor &self, int64_t i) const {
    double s = scale(i), z = zero(i), x = self.real(i) / s;
    int exponent = 0;
    double near = std::abs(std::abs(x - std::trunc(x)) - 0.5);
    bool exact = std::frexp(s, &exponent) == 0.5 && !learned;
    if (std::isfinite(x) && std::abs(x) < 1e6 && near < 1e-3 &&
        !(exact && near == 0))
      call.open("a quotient next to a half");
    Quantized r;
    r.q = std::nearbyint(x) + z;
    r.inside = r.q >= low && r.q <= high;
    double kept = r.q > low ? std::min(r.q, high) : low; // NaN is the least
    r.value = (kept - z) * s;
    if (axis < 0) // one scale for all: the product is a float32
      r.value = roundTo(DType::F32, r.value);
    return r;
  }
};
} // namespace

/// (self, scale, zero_point, [axis or enabled,] quant_min, quant_max): the
/// values, and where the clamp changed nothing.
static void fakeQuantize(Call &call) {
  const Tensor &self = call.tensor(0);
  int enabled = call.schema.argIndex("fake_quant_enabled");
  bool on = enabled < 0 || call.tensor(enabled).integer(0);
  Parameters p(call, self, 1, call.schema.argIndex("quant_min"));
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    Quantized r = p.of(self, i);
    if (on)
      call.out(0).setReal(i, r.value);
    else
      call.out(0).set(i, self, i);
    if (call.results.size() > 1)
      call.out(1).setInteger(i, r.inside || !on);
  }
}

/// (grad, mask)
static void maskedGradient(Call &call) {
  for (int64_t i = 0, n = call.out().numel(); i < n; ++i)
    call.out().setReal(i, call.tensor(0).real(i) *
                              double(call.tensor(1).integer(i)));
}

/// (grad, self, scale, zero_point, [axis,] quant_min, quant_max, factor): of
/// all three.
static void learnedBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &self = call.tensor(1);
  Parameters p(call, self, 2, call.schema.argIndex("quant_min"));
  double factor = call.number(call.schema.argIndex("grad_factor"));
  std::vector<double> ds(call.out(1).numel()), dz(call.out(2).numel());
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    Quantized r = p.of(self, i);
    double g = grad.real(i), s = p.scale(i);
    if (std::isnan(self.real(i)))
      call.open("a gradient of NaN");
    call.out(0).setReal(i, r.inside ? g : g * 0);
    int64_t at = p.placeOf(i);
    ds[at] +=
        factor * g * (r.inside ? (r.value - self.real(i)) / s : r.value / s);
    dz[at] += r.inside ? 0 : -factor * g * s;
  }
  for (size_t k = 0; k < ds.size(); ++k) {
    call.out(1).setReal(k, ds[k]);
    call.out(2).setReal(k, dz[k]);
  }
}

/// (scale, growth_tracker, found_inf, growth, backoff, interval)
static void updateScale(Call &call) {
  double scale = call.tensor(0).real(0);
  int64_t steps = call.tensor(1).integer(0);
  if (call.tensor(2).real(0) != 0) {
    scale *= call.number(4);
    steps = 0;
  } else if (++steps == call.integer(5)) {
    double grown = roundTo(call.out(0).dtype, scale * call.number(3));
    scale = std::isfinite(grown) ? grown : scale;
    steps = 0;
  }
  call.out(0).setReal(0, scale);
  call.out(1).setInteger(0, steps);
}

/// (list, found_inf, inv_scale): the list times inv_scale, and 1 where one of
/// it was not finite.
static void unscale(Call &call) {
  std::vector<const Tensor *> list = call.tensors(0);
  double factor = call.tensor(2).real(0);
  double found = call.tensor(1).real(0);
  for (size_t k = 0; k < list.size(); ++k)
    for (int64_t i = 0, n = list[k]->numel(); i < n; ++i) {
      double x = list[k]->real(i);
      if (!std::isfinite(x))
        found = 1;
      call.out(k).setReal(i, factor == 1 ? x : x * factor);
    }
  call.out(list.size()).setReal(0, found);
}

llvm::ArrayRef<OpRow> ft::interpreter::quantizeOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"fake_quantize_per_tensor_affine.default", fakeQuantize, Accumulated},
      {"fake_quantize_per_tensor_affine.tensor_qparams", fakeQuantize,
       Accumulated},
      {"fake_quantize_per_channel_affine.default", fakeQuantize, Accumulated},
      {"fake_quantize_per_tensor_affine_cachemask.default", fakeQuantize,
       Accumulated},
      {"fake_quantize_per_channel_affine_cachemask.default", fakeQuantize,
       Accumulated},
      {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
       fakeQuantize, Accumulated},
      {"_fake_quantize_learnable_per_tensor_affine.default", fakeQuantize,
       Accumulated},
      {"_fake_quantize_learnable_per_channel_affine.default", fakeQuantize,
       Accumulated},
      {"fake_quantize_per_tensor_affine_cachemask_backward.default",
       maskedGradient, Elementary},
      {"fake_quantize_per_channel_affine_cachemask_backward.default",
       maskedGradient, Elementary},
      {"_fake_quantize_learnable_per_tensor_affine_backward.default",
       learnedBackward, Accumulated},
      {"_fake_quantize_learnable_per_channel_affine_backward.default",
       learnedBackward, Accumulated},
      {"_amp_update_scale.default", updateScale, Elementary},
      {"_amp_foreach_non_finite_check_and_unscale.default", unscale,
       Elementary},
  };
  return rows;
}
