//===- BatchNorm.cpp - Lowering of batch normalisation ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With running statistics: y = x * scale + shift, where scale and shift are
// vectors of one small kernel, so that the image is touched by one pointwise op
// that fuses with the convolution before it:
//
//   scale = weight / sqrt(var + eps)      shift = bias - mean * scale
//
// In training the statistics are those of the batch: two reductions over all
// dims but the channels. Then y = (x - mean) * scale + bias, since x * scale
// and the shift may cancel where the mean is large against the deviation.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Rows.h"

using namespace mlir;

namespace ft {

namespace {

struct BatchNorm {
  LoweredTensor x, weight, bias, runningMean, runningVar;
  bool training = false;
  double momentum = 0, eps = 0;
};

/// Results besides the image: of the batch, and the updated running ones.
struct Statistics {
  LoweredTensor image, mean, invstd, newMean, newVar;
};

} // namespace

static LoweredTensor optional(LowerCall &c, unsigned arg) {
  return c.isNone(arg) ? LoweredTensor() : c.operand(arg);
}

static LoweredTensor vectorOf(LowerCall &c, LoweredTensor t, Dim channels) {
  return c.reshape(t, {channels});
}

/// (x - mean) * scale + bias.
static LoweredTensor normalizeCentered(LowerCall &c, const BatchNorm &n,
                                       LoweredTensor mean, LoweredTensor scale,
                                       DType sum) {
  DType from = n.x.dtype, dtype = c.resultMeta(0).dtype;
  c.newGroup();
  return mapIndexed(
      c, n.x, dtype,
      [&](ArrayRef<AffineExpr> i) {
        SmallVector<Access> vectors = {{mean, {i[1]}}, {scale, {i[1]}}};
        if (n.bias.value)
          vectors.push_back({n.bias, {i[1]}});
        return vectors;
      },
      [&](ScalarBuilder &s, ValueRange v) {
        Value y = s.mul(s.sub(s.cast(v[0], from, sum), v[1]), v[2]);
        if (n.bias.value)
          y = s.add(y, s.cast(v[3], n.bias.dtype, sum));
        return s.cast(y, sum, dtype);
      });
}

/// x * scale + shift; statistics are [C] tensors of dtype `sum`.
static LoweredTensor normalize(LowerCall &c, const BatchNorm &n,
                               LoweredTensor mean, LoweredTensor invstd,
                               DType sum) {
  DType from = n.x.dtype, dtype = c.resultMeta(0).dtype;
  LoweredTensor scale = invstd;
  if (n.weight.value)
    scale = c.pointwise({invstd, n.weight}, invstd.dims(), sum,
                        [&](ScalarBuilder &s, ValueRange v) {
                          return s.mul(v[0], s.cast(v[1], n.weight.dtype, sum));
                        });
  if (n.training)
    return normalizeCentered(c, n, mean, scale, sum);
  SmallVector<LoweredTensor> terms = {mean, scale};
  if (n.bias.value)
    terms.push_back(n.bias);
  LoweredTensor shift =
      c.pointwise(terms, mean.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
        Value moved = s.neg(s.mul(v[0], v[1]));
        return n.bias.value ? s.add(s.cast(v[2], n.bias.dtype, sum), moved)
                            : moved;
      });
  c.newGroup();
  return mapIndexed(
      c, n.x, dtype,
      [&](ArrayRef<AffineExpr> i) {
        return SmallVector<Access>{{scale, {i[1]}}, {shift, {i[1]}}};
      },
      [&](ScalarBuilder &s, ValueRange v) {
        Value y = s.add(s.mul(s.cast(v[0], from, sum), v[1]), v[2]);
        return s.cast(y, sum, dtype);
      });
}

/// count / (count - 1): from the biased to the unbiased variance.
static Value besselFactor(LowerCall &c, ScalarBuilder &s, Dim count,
                          DType dtype) {
  if (count.isStatic()) {
    auto n = static_cast<double>(count.value());
    return s.constant(computeType(c.context(), dtype), n / (n - 1));
  }
  return s.div(c.sizeIn(s, count, dtype), c.sizeIn(s, count - 1, dtype));
}

/// momentum * batch + (1 - momentum) * running of statistics of `count`
/// elements, without any the running ones; of a biased variance, if `unbiased`.
static LoweredTensor blend(LowerCall &c, LoweredTensor running,
                           LoweredTensor batch, double momentum, Dim count,
                           bool unbiased = false) {
  if (count.is(0))
    return running;
  DType dtype = running.dtype, sum = batch.dtype;
  return c.pointwise(
      {running, batch}, running.dims(), dtype,
      [&](ScalarBuilder &s, ValueRange v) {
        Type t = v[1].getType();
        Value now = s.mul(v[1], s.constant(t, momentum));
        if (unbiased)
          now = s.mul(now, besselFactor(c, s, count, sum));
        Value old =
            s.mul(s.cast(v[0], dtype, sum), s.constant(t, 1 - momentum));
        Value blended = s.cast(s.add(now, old), sum, dtype);
        if (count.isStatic())
          return blended;
        Value number = c.sizeIn(s, count, sum);
        Value none = s.cmp(ScalarBuilder::Cmp::Eq, number, s.zero(number));
        return s.select(none, v[0], blended);
      });
}

static Statistics normalizeBatch(LowerCall &c, const BatchNorm &n) {
  DType sum = opmathType(n.x.dtype);
  Dim channels = n.x.dims()[1];
  Statistics r;
  LoweredTensor mean, invstd;
  if (!n.training && (!n.runningMean.value || !n.runningVar.value))
    return r; // no image
  if (!n.training) {
    mean = c.cast(n.runningMean, sum);
    invstd = reciprocalStd(c, c.cast(n.runningVar, sum), n.eps);
    r.newMean = n.runningMean;
    r.newVar = n.runningVar;
  } else {
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < n.x.rank(); ++d)
      if (d != 1)
        dims.push_back(d);
    Dim count = elementsAlong(n.x, dims);
    Moments m = moments(c, n.x, dims);
    mean = vectorOf(c, m.mean, channels);
    LoweredTensor variance = vectorOf(c, m.variance, channels);
    invstd = reciprocalStd(c, variance, n.eps);
    if (n.runningMean.value)
      r.newMean = blend(c, n.runningMean, mean, n.momentum, count);
    // The running variance is unbiased.
    if (n.runningVar.value)
      r.newVar = blend(c, n.runningVar, variance, n.momentum, count,
                       /*unbiased=*/true);
    r.mean = mean;
    r.invstd = invstd;
    // Every pixel needs the statistics: another kernel.
    c.newGroup();
  }
  r.image = normalize(c, n, mean, invstd, sum);
  return r;
}

/// Sets result r to `t`, or to an empty tensor where there is no statistic.
static void setStatistic(LowerCall &c, unsigned r, LoweredTensor t) {
  const TensorMeta &meta = c.resultMeta(r);
  if (meta.numel().is(0) || !t.value)
    c.setResult(r, c.filled({0}, meta.dtype, 0));
  else
    c.setResult(r, c.cast(t, meta.dtype));
}

/// Sets as many results as there are: image, mean, invstd, with `reserve` what
/// a library would keep for its backward pass, updated mean and variance.
static LogicalResult setResults(LowerCall &c, const Statistics &r,
                                bool reserve = false) {
  if (!r.image.value)
    return c.unsupported("evaluation without running statistics");
  c.setResult(0, r.image);
  SmallVector<LoweredTensor> others = {r.mean, r.invstd};
  if (reserve)
    others.push_back({});
  others.append({r.newMean, r.newVar});
  for (unsigned i = 1; i < c.numResults(); ++i)
    setStatistic(c, i, others[i - 1]);
  return success();
}

/// batch_norm, native_batch_norm, …_functional: (input, weight, bias,
/// running_mean, running_var, training, momentum, eps); one, three or five
/// results.
LogicalResult lowerBatchNorm(LowerCall &c) {
  BatchNorm n{c.operand(0),   optional(c, 1), optional(c, 2), optional(c, 3),
              optional(c, 4), c.flag(5),      c.number(6),    c.number(7)};
  return setResults(c, normalizeBatch(c, n));
}

/// (input, weight, bias, training, momentum, eps).
static LogicalResult withoutRunning(LowerCall &c) {
  BatchNorm n{c.operand(0), optional(c, 1), optional(c, 2), {},
              {},           true,           c.number(4),    c.number(5)};
  return setResults(c, normalizeBatch(c, n));
}

/// (input, weight, bias, running_mean, running_var, momentum, eps), by the
/// running statistics or those of the batch.
template <bool Training>
static LogicalResult withReserve(LowerCall &c) {
  BatchNorm n{c.operand(0),   optional(c, 1), optional(c, 2), optional(c, 3),
              optional(c, 4), Training,       c.number(5),    c.number(6)};
  return setResults(c, normalizeBatch(c, n), true);
}

static const LowerRuleRow kRows[] = {
    anyShape("_batch_norm_no_update.default", withReserve<false>),
    anyShape("_batch_norm_with_update_functional.default", withReserve<true>),
    anyShape("_native_batch_norm_legit.default", lowerBatchNorm),
    anyShape("_native_batch_norm_legit.no_stats", withoutRunning),
    anyShape("_native_batch_norm_legit_functional.default", lowerBatchNorm),
    anyShape("_native_batch_norm_legit_no_training.default",
             withReserve<false>),
    anyShape("batch_norm.default", lowerBatchNorm),
    anyShape("native_batch_norm.default", lowerBatchNorm),
};

ArrayRef<LowerRuleRow> batchNormLowerRules() { return kRows; }

} // namespace ft
