//===- Dropout.cpp - Lowering of dropout and rrelu -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Philox.h"
#include "dialects/ft/TensorSizes.h"

using namespace mlir;

namespace ft {

/// What is kept, with probability 1 - p.
static LoweredTensor keptMask(LowerCall &c, const SizeList &sizes, double p) {
  return draw(c, {}, sizes, DType::Bool,
              [&](RandomBits &r, ValueRange) { return r.chance(1 - p); });
}

/// (x * mask) * scale + (mask ? kept : dropped); the mask is broadcast.
static LoweredTensor scaleKept(LowerCall &c, LoweredTensor x,
                               LoweredTensor mask, double scale,
                               double kept = 0, double dropped = 0) {
  DType work = opmathType(x.dtype);
  bool shifts = kept != 0 || dropped != 0;
  return c.pointwise({x, mask}, x.dims(), x.dtype,
                     [&](ScalarBuilder &s, ValueRange v) {
                       Value e = s.cast(v[0], x.dtype, work);
                       Type type = e.getType();
                       Value m = s.cast(v[1], mask.dtype, work);
                       Value y = s.mul(s.mul(e, m), s.constant(type, scale));
                       if (shifts)
                         y = s.add(y, s.select(v[1], s.constant(type, kept),
                                               s.constant(type, dropped)));
                       return s.cast(y, work, x.dtype);
                     });
}

/// x times 0: all is dropped, NaN stays.
static LoweredTensor nothingOf(LowerCall &c, LoweredTensor x) {
  DType work = opmathType(x.dtype);
  return c.pointwise(x, x.dims(), x.dtype, [&](ScalarBuilder &s, ValueRange v) {
    Value e = s.cast(v[0], x.dtype, work);
    return s.cast(s.mul(e, s.zero(e)), work, x.dtype);
  });
}

/// dropout: self, p, train. `Feature`: whole channels are dropped. `Alpha`:
/// dropped elements become the value that selu has far below 0, and all is
/// scaled and shifted so that mean and variance stay (Klambauer et al., 2017).
template <bool Feature, bool Alpha>
static LogicalResult dropout(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  double p = c.number(1);
  if (!c.flag(2) || p == 0 || hasNoElements(x.dims())) {
    c.setResult(0, x);
    return success();
  }
  if (p == 1) {
    c.setResult(0, nothingOf(c, x));
    return success();
  }
  Dims sizes = x.dims();
  if (Feature)
    for (size_t d = 2; d < sizes.size(); ++d)
      sizes[d] = 1;
  LoweredTensor mask = keptMask(c, sizes, p);
  if (!Alpha) {
    c.setResult(0, scaleKept(c, x, mask, 1 / (1 - p)));
    return success();
  }
  constexpr double kAlpha = 1.7580993408473766;
  double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  double kept = kAlpha * a * p;
  c.setResult(0, scaleKept(c, x, mask, a, kept, kept - kAlpha * a));
  return success();
}

/// native_dropout: self, p, train -> result, what is kept
static LogicalResult nativeDropout(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  double p = c.number(1);
  bool train = c.isNone(2) || c.flag(2);
  if (!train || p == 0 || p == 1) {
    bool all = train && p == 1;
    c.setResult(0, all ? nothingOf(c, x) : x);
    c.setResult(1, c.filledInt(x.dims(), c.resultMeta(1).dtype, all ? 0 : 1));
    return success();
  }
  LoweredTensor mask = keptMask(c, x.dims(), p);
  c.setResult(0, scaleKept(c, x, mask, 1 / (1 - p)));
  c.setResult(1, c.cast(mask, c.resultMeta(1).dtype));
  return success();
}

/// _fused_dropout: self, the probability to keep -> result, what is kept
static LogicalResult fusedDropout(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  double keep = c.number(1);
  LoweredTensor mask = keptMask(c, x.dims(), 1 - keep);
  c.setResult(0, keep == 0 ? nothingOf(c, x) : scaleKept(c, x, mask, 1 / keep));
  c.setResult(1, c.cast(mask, c.resultMeta(1).dtype));
  return success();
}

/// x where the mask is set, times the scale.
static LogicalResult maskedScale(LowerCall &c) {
  c.setResult(0, scaleKept(c, c.operand(0), c.operand(1), c.number(2)));
  return success();
}

/// rrelu: self, lower, upper, training. Negative numbers times a random slope,
/// or the middle one.
static LogicalResult rrelu(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  DType work = opmathType(x.dtype);
  double lower = c.number(1), upper = c.number(2);
  auto sloped = [&](ScalarBuilder &s, Value element, Value slope) {
    Value positive = s.cmp(ScalarBuilder::Cmp::Lt, s.zero(element), element);
    Value y = s.select(positive, element, s.mul(element, slope));
    return s.cast(y, work, x.dtype);
  };
  if (c.flag(3))
    c.setResult(0,
                draw(c, x, x.dims(), x.dtype, [&](RandomBits &r, ValueRange v) {
                  Value u = r.uniform(work);
                  Type type = u.getType();
                  u = r.add(r.mul(u, r.constant(type, upper - lower)),
                            r.constant(type, lower));
                  return sloped(r, r.cast(v[0], x.dtype, work), u);
                }));
  else
    c.setResult(
        0,
        c.pointwise(x, x.dims(), x.dtype, [&](ScalarBuilder &s, ValueRange v) {
          Value e = s.cast(v[0], x.dtype, work);
          return sloped(s, e, s.constant(e.getType(), (lower + upper) / 2));
        }));
  return success();
}

/// rrelu_with_noise: self, noise, lower, upper, training -> result, and the
/// slopes: 1 where self is positive.
static LogicalResult rreluWithNoise(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  DType work = opmathType(x.dtype);
  double lower = c.number(2), upper = c.number(3);
  LoweredTensor slopes;
  if (c.flag(4))
    slopes = draw(c, x, x.dims(), x.dtype, [&](RandomBits &r, ValueRange v) {
      Value u = r.uniform(work);
      Type type = u.getType();
      u = r.add(r.mul(u, r.constant(type, upper - lower)),
                r.constant(type, lower));
      Value e = r.cast(v[0], x.dtype, work);
      Value positive = r.cmp(ScalarBuilder::Cmp::Lt, r.zero(e), e);
      return r.cast(r.select(positive, r.one(u), u), work, x.dtype);
    });
  SmallVector<LoweredTensor> ins = {x};
  if (slopes.value)
    ins.push_back(slopes);
  c.setResult(
      0,
      c.pointwise(ins, x.dims(), x.dtype, [&](ScalarBuilder &s, ValueRange v) {
        Value e = s.cast(v[0], x.dtype, work);
        Value k = slopes.value ? s.cast(v[1], x.dtype, work)
                               : s.constant(e.getType(), (lower + upper) / 2);
        Value positive = s.cmp(ScalarBuilder::Cmp::Lt, s.zero(e), e);
        Value y = s.select(positive, e, s.mul(e, k));
        return s.cast(y, work, x.dtype);
      }));
  c.setResult(1, slopes.value ? slopes : c.operand(1));
  return success();
}

/// grad_output, self, noise, lower, upper, training, self_is_result
static LogicalResult rreluBackward(LowerCall &c) {
  LoweredTensor g = c.operand(0), x = c.operand(1), noise = c.operand(2);
  DType dtype = c.resultMeta(0).dtype, work = opmathType(dtype);
  double lower = c.number(3), upper = c.number(4);
  bool byNoise = c.flag(5) && upper - lower > 1e-6;
  c.setResult(
      0, c.pointwise(
             {g, byNoise ? noise : x}, c.resultMeta(0),
             [&](ScalarBuilder &s, ValueRange v) {
               Value grad = s.cast(v[0], g.dtype, work);
               if (byNoise)
                 return s.cast(s.mul(grad, s.cast(v[1], noise.dtype, work)),
                               work, dtype);
               Value e = s.cast(v[1], x.dtype, work);
               Value slope = s.constant(grad.getType(), (lower + upper) / 2);
               Value positive = s.cmp(ScalarBuilder::Cmp::Lt, s.zero(e), e);
               return s.cast(s.select(positive, grad, s.mul(grad, slope)), work,
                             dtype);
             }));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_fused_dropout.default", fusedDropout),
    anyShape("_masked_scale.default", maskedScale),
    anyShape("alpha_dropout.default", dropout<false, true>),
    anyShape("dropout.default", dropout<false, false>),
    anyShape("feature_alpha_dropout.default", dropout<true, true>),
    anyShape("feature_dropout.default", dropout<true, false>),
    anyShape("native_dropout.default", nativeDropout),
    anyShape("native_dropout_backward.default", maskedScale),
    anyShape("rrelu.default", rrelu),
    anyShape("rrelu_with_noise_backward.default", rreluBackward),
    anyShape("rrelu_with_noise_functional.default", rreluWithNoise),
};

ArrayRef<LowerRuleRow> dropoutLowerRules() { return kRows; }

} // namespace ft
