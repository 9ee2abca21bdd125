//===- NormBackward.cpp - Lowering of gradients of norms -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With xhat = (x - mean) * rstd and g = dy * weight, over the n elements that
// share a mean:
//
//   dx = rstd * (g - mean of g - xhat * mean of (g * xhat))
//   dweight = sum of dy * xhat        dbias = sum of dy
//
// over everything that shares a weight.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Rows.h"

using namespace mlir;

namespace ft {

using Ints = Dims;

static LoweredTensor optional(LowerCall &c, unsigned arg) {
  return c.isNone(arg) ? LoweredTensor() : c.operand(arg);
}

namespace {

/// One norm, all tensors of the rank of x: statistics and weights have size 1
/// where they are shared.
struct NormGradient {
  LoweredTensor dy, x, mean, rstd, weight;
  /// Dims that share a mean, and dims that share a weight.
  SmallVector<unsigned> statDims, weightDims;
  /// For dweight xhat is x rstd + b with b = -(rstd mean) rounded, as PyTorch's
  /// layer norm does it: what b has lost is all that is left where x is close
  /// to the mean.
  bool roundedOffset = false;
  /// The statistics are constants (batch norm with running statistics).
  bool fixedStatistics = false;
  /// All that share a mean share a weight (batch norm): it is multiplied by in
  /// the end, where an infinite one is not taken from itself.
  bool weightIsShared = false;
};

struct Gradients {
  LoweredTensor dx, dweight, dbias;
};

} // namespace

/// All in the opmath dtype; dweight and dbias keep their reduced dims.
static Gradients gradients(LowerCall &c, const NormGradient &n, bool wantX,
                           bool wantWeight, bool wantBias) {
  DType dyType = n.dy.dtype, xType = n.x.dtype;
  DType sum = opmathType(xType);
  DType meanType = n.mean.dtype, rstdType = n.rstd.dtype;
  auto xhat = [&](ScalarBuilder &s, Value x, Value mean, Value rstd) {
    Value d = s.sub(s.cast(x, xType, sum), s.cast(mean, meanType, sum));
    return s.mul(d, s.cast(rstd, rstdType, sum));
  };
  // One rounding of x rstd + b, as with a fused multiply-add: in double.
  auto offset = [&](ScalarBuilder &s, Value x, Value mean, Value rstd) {
    Value r = s.cast(rstd, rstdType, sum);
    Value b = s.neg(s.mul(r, s.cast(mean, meanType, sum)));
    auto wide = [&](Value v) { return s.cast(v, sum, DType::F64); };
    Value product = s.mul(wide(s.cast(x, xType, sum)), wide(r));
    return s.cast(s.add(product, wide(b)), DType::F64, sum);
  };
  SmallVector<LoweredTensor> ins = {n.dy, n.x, n.mean, n.rstd};
  if (n.weight.value)
    ins.push_back(n.weight);
  auto weighted = [&](ScalarBuilder &s, ValueRange v) {
    Value g = s.cast(v[0], dyType, sum);
    return n.weight.value && !n.weightIsShared
               ? s.mul(g, s.cast(v[4], n.weight.dtype, sum))
               : g;
  };
  auto scaled = [&](ScalarBuilder &s, ValueRange v, Value y) {
    return n.weight.value && n.weightIsShared
               ? s.mul(y, s.cast(v[4], n.weight.dtype, sum))
               : y;
  };
  Start zero{sum, 0, std::nullopt};
  Gradients r;
  if (wantX) {
    Dim count = elementsAlong(n.x, n.statDims);
    SmallVector<LoweredTensor> all(ins);
    if (!n.fixedStatistics)
      all.append(reduceTo(
          c, ins, n.statDims, true, {zero, zero, zero}, [&](ReduceStep &step) {
            ScalarBuilder &s = step.s;
            ValueRange v = step.elements;
            Value g = weighted(s, v), h = xhat(s, v[1], v[2], v[3]);
            return SmallVector<Value>{s.add(step.accumulators[0], g),
                                      s.add(step.accumulators[1], h),
                                      s.add(step.accumulators[2], s.mul(g, h))};
          }));
    r.dx =
        c.pointwise(all, n.x.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
          Value g = weighted(s, v);
          Value rstd = s.cast(v[3], rstdType, sum);
          if (n.fixedStatistics)
            return scaled(s, v, s.mul(g, rstd));
          // xhat's own mean is what the mean of x lost when it was rounded.
          Value by = c.sizeIn(s, count, sum);
          auto mean = [&](size_t k) {
            return s.div(v[all.size() - 3 + k], by);
          };
          Value gMean = mean(0), hMean = mean(1);
          // Of a mean that overflowed nothing can be taken back.
          Value rest = s.sub(gMean, gMean);
          Value finite = s.cmp(ScalarBuilder::Cmp::Eq, rest, s.zero(rest));
          Value lost = s.select(finite, s.mul(gMean, hMean), s.zero(rest));
          Value ghMean = s.sub(mean(2), lost);
          Value h = s.sub(xhat(s, v[1], v[2], v[3]), hMean);
          Value d = s.sub(s.sub(g, gMean), s.mul(h, ghMean));
          return scaled(s, v, s.mul(d, rstd));
        });
    c.newGroup();
  }
  if (wantWeight) {
    r.dweight = reduceTo(
        c, {n.dy, n.x, n.mean, n.rstd}, n.weightDims, true, zero,
        [&](ReduceStep &step) {
          ScalarBuilder &s = step.s;
          ValueRange v = step.elements;
          Value g = s.cast(v[0], dyType, sum);
          Value h = n.roundedOffset ? offset(s, v[1], v[2], v[3])
                                    : xhat(s, v[1], v[2], v[3]);
          return SmallVector<Value>{s.add(step.accumulators[0], s.mul(g, h))};
        })[0];
    c.newGroup();
  }
  if (wantBias) {
    r.dbias = sumOf(c, n.dy, n.weightDims, true, sum);
    c.newGroup();
  }
  return r;
}

static void setGradient(LowerCall &c, unsigned r, LoweredTensor t) {
  if (!t.value)
    return;
  const TensorMeta &meta = c.resultMeta(r);
  c.setResult(r, c.cast(c.reshape(t, dimsOf(meta)), meta.dtype));
}

/// Those of input, weight and bias that the mask asks for.
static LogicalResult setGradients(LowerCall &c, const NormGradient &n,
                                  unsigned maskArg) {
  const std::vector<Arg> &mask = c.call().args[maskArg].list;
  Gradients g =
      gradients(c, n, mask[0].boolean, mask[1].boolean, mask[2].boolean);
  setGradient(c, 0, g.dx);
  setGradient(c, 1, g.dweight);
  setGradient(c, 2, g.dbias);
  return success();
}

/// (grad, input, normalized_shape, mean, rstd, weight, bias, output_mask).
static LogicalResult layerNorm(LowerCall &c) {
  NormGradient n;
  n.dy = c.operand(0);
  n.x = c.operand(1);
  n.mean = c.operand(3);
  n.rstd = c.operand(4);
  n.weight = optional(c, 5);
  n.roundedOffset = true;
  auto outer = static_cast<unsigned>(n.x.rank() - c.dimsArg(2).size());
  for (unsigned d = 0; d < n.x.rank(); ++d)
    (d < outer ? n.weightDims : n.statDims).push_back(d);
  if (n.weight.value) {
    Ints sizes = n.weight.dims();
    sizes.insert(sizes.begin(), outer, 1);
    n.weight = c.reshape(n.weight, sizes);
  }
  return setGradients(c, n, 7);
}

/// (grad, input, mean, rstd, weight, N, C, HxW, group, output_mask), as
/// [N, group, channel, pixel].
static LogicalResult groupNorm(LowerCall &c) {
  Dim batch = c.dimArg(5), channels = c.dimArg(6), pixels = c.dimArg(7);
  int64_t groups = c.integer(8);
  Dim width = floorDiv(channels, groups);
  NormGradient n;
  n.dy = c.reshape(c.operand(0), {batch, groups, width, pixels});
  n.x = c.reshape(c.operand(1), {batch, groups, width, pixels});
  n.mean = c.reshape(c.operand(2), {batch, groups, 1, 1});
  n.rstd = c.reshape(c.operand(3), {batch, groups, 1, 1});
  n.weight = optional(c, 4);
  if (n.weight.value)
    n.weight = c.reshape(n.weight, {1, groups, width, 1});
  n.statDims = {2, 3};
  n.weightDims = {0, 3};
  return setGradients(c, n, 9);
}

/// (grad, input, weight, running_mean, running_var, save_mean, save_invstd,
/// train, eps, output_mask); batch_norm_backward adds a reserve.
static LogicalResult batchNorm(LowerCall &c) {
  NormGradient n;
  n.dy = c.operand(0);
  n.x = c.operand(1);
  n.weight = optional(c, 2);
  bool train = c.flag(7);
  Ints wide(n.x.rank(), 1);
  wide[1] = n.x.dims()[1];
  DType sum = opmathType(n.x.dtype);
  if (train) {
    n.mean = c.operand(5);
    n.rstd = c.operand(6);
  } else {
    n.mean = c.operand(3);
    n.rstd = reciprocalStd(c, c.cast(c.operand(4), sum), c.number(8));
  }
  n.mean = c.reshape(n.mean, wide);
  n.rstd = c.reshape(n.rstd, wide);
  if (n.weight.value)
    n.weight = c.reshape(n.weight, wide);
  n.fixedStatistics = !train;
  n.weightIsShared = true;
  for (unsigned d = 0; d < n.x.rank(); ++d)
    if (d != 1)
      n.statDims.push_back(d);
  n.weightDims = n.statDims;
  return setGradients(c, n, 9);
}

static const LowerRuleRow kRows[] = {
    anyShape("batch_norm_backward.default", batchNorm),
    anyShape("native_batch_norm_backward.default", batchNorm),
    anyShape("native_group_norm_backward.default", groupNorm),
    anyShape("native_layer_norm_backward.default", layerNorm),
};

ArrayRef<LowerRuleRow> normBackwardLowerRules() { return kRows; }

} // namespace ft
