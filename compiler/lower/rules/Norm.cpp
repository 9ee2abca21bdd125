//===- Norm.cpp - Lowering of layer, group and RMS norms -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statistics in the opmath dtype (float32 for 16-bit floats), the variance in
// a second pass, and one rounding at the end, as PyTorch's kernels do it.

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Rows.h"

#include <limits>

using namespace mlir;

namespace ft {

using Ints = Dims;

static LoweredTensor optional(LowerCall &c, unsigned arg) {
  return c.isNone(arg) ? LoweredTensor() : c.operand(arg);
}

static Ints sizesOf(const TensorMeta &meta) {
  Ints sizes;
  for (const Dim &d : meta.sizes)
    sizes.push_back(d);
  return sizes;
}

/// Sets result r, if there is one, to `t` in the shape and dtype it should
/// have.
static void setStatistic(LowerCall &c, unsigned r, LoweredTensor t) {
  if (r >= c.numResults())
    return;
  const TensorMeta &meta = c.resultMeta(r);
  c.setResult(r, c.cast(c.reshape(t, sizesOf(meta)), meta.dtype));
}

namespace {
/// (x - mean) * rstd * weight + bias, for those that are there.
struct Normalization {
  LoweredTensor x, mean, rstd, weight, bias;
  DType sum, dtype;

  /// What is read besides x, in this order.
  SmallVector<LoweredTensor> others() const {
    SmallVector<LoweredTensor> all;
    for (const LoweredTensor &t : {mean, rstd, weight, bias})
      if (t.value)
        all.push_back(t);
    return all;
  }
  /// v: the elements of x and of others().
  Value element(ScalarBuilder &s, ValueRange v) const {
    unsigned next = 1;
    Value y = s.cast(v[0], x.dtype, sum);
    if (mean.value)
      y = s.sub(y, v[next++]);
    y = s.mul(y, v[next++]);
    if (weight.value)
      y = s.mul(y, s.cast(v[next++], weight.dtype, sum));
    if (bias.value)
      y = s.add(y, s.cast(v[next], bias.dtype, sum));
    return s.cast(y, sum, dtype);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Over the last dims
//===----------------------------------------------------------------------===//

static SmallVector<unsigned> lastDims(unsigned rank, size_t count) {
  SmallVector<unsigned> dims;
  for (auto d = static_cast<unsigned>(rank - count); d < rank; ++d)
    dims.push_back(d);
  return dims;
}

static LoweredTensor overLastDims(LowerCall &c, const Normalization &n) {
  SmallVector<LoweredTensor> ins = {n.x};
  llvm::append_range(ins, n.others());
  return c.pointwise(
      ins, n.x.dims(), n.dtype,
      [&](ScalarBuilder &s, ValueRange v) { return n.element(s, v); });
}

/// layer_norm, native_layer_norm: (input, normalized_shape, weight, bias, eps).
static LogicalResult layerNorm(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  Moments m = moments(c, x, lastDims(x.rank(), c.dimsArg(1).size()));
  LoweredTensor rstd = reciprocalStd(c, m.variance, c.number(4));
  c.setResult(0,
              overLastDims(c, {x, m.mean, rstd, optional(c, 2), optional(c, 3),
                               opmathType(x.dtype), c.resultMeta(0).dtype}));
  setStatistic(c, 1, m.mean);
  setStatistic(c, 2, rstd);
  return success();
}

/// rms_norm, _fused_rms_norm: (input, normalized_shape, weight, eps). The
/// default of eps is the machine epsilon of the opmath dtype.
static LogicalResult rmsNorm(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  DType from = x.dtype, sum = opmathType(from);
  double eps = 0;
  if (!c.isNone(3))
    eps = c.number(3);
  else
    eps = sum == DType::F64 ? std::numeric_limits<double>::epsilon()
                            : std::numeric_limits<float>::epsilon();
  SmallVector<unsigned> dims = lastDims(x.rank(), c.dimsArg(1).size());
  Dim count = elementsAlong(x, dims);
  LoweredTensor squares =
      sumOf(c, x, dims, true, sum,
            [](ScalarBuilder &s, Value v) { return s.mul(v, v); });
  LoweredTensor rstd = c.pointwise(
      squares, squares.dims(), sum, [&](ScalarBuilder &s, ValueRange v) {
        Value mean = s.div(v[0], c.sizeIn(s, count, sum));
        return reciprocalStd(s, mean, eps);
      });
  c.setResult(
      0, overLastDims(
             c, {x, {}, rstd, optional(c, 2), {}, sum, c.resultMeta(0).dtype}));
  setStatistic(c, 1, rstd);
  return success();
}

//===----------------------------------------------------------------------===//
// Over groups of channels
//===----------------------------------------------------------------------===//

/// Normalizes [N, C, …] over each group of channels and all of space, in
/// whatever order the image lies: channels-last is reduced as
/// [N, space, group, channel], row-major as [N, group, channel * space].
static LogicalResult groups(LowerCall &c, Dim groupCount,
                            const LoweredTensor &w, const LoweredTensor &b,
                            double eps) {
  LoweredTensor x = c.operand(0);
  Ints sizes = x.dims();
  unsigned rank = x.rank();
  Dim batch = sizes[0];
  Dim groupWidth = groupCount.is(0) ? Dim(0) : floorDiv(sizes[1], groupCount);
  SmallVector<unsigned> space = lastDims(rank, rank - 2);
  Dim pixels = elementsAlong(x, space);

  Moments m;
  if (rank > 2 && x.order.back() == 1 && x.order.front() == 0) {
    // The spatial dims may lie in any order; statistics do not care.
    LoweredTensor rows =
        c.reshape(inMemoryOrder(x), {batch, pixels, groupCount, groupWidth});
    m = moments(c, rows, {1, 3});
  } else {
    LoweredTensor rows = c.reshape(x, {batch, groupCount, pixels * groupWidth});
    m = moments(c, rows, {2});
  }
  LoweredTensor mean = c.reshape(m.mean, {batch, groupCount});
  LoweredTensor rstd =
      c.reshape(reciprocalStd(c, m.variance, eps), {batch, groupCount});
  setStatistic(c, 1, mean);
  setStatistic(c, 2, rstd);
  Normalization n{
      x, mean, rstd, w, b, opmathType(x.dtype), c.resultMeta(0).dtype};
  if (!groupWidth.isStatic()) {
    // No affine map says the group of a channel: as [N, group, channel, space].
    Dims grouped = {batch, groupCount, groupWidth, pixels};
    SmallVector<LoweredTensor> ins = {c.reshape(x, grouped)};
    for (const LoweredTensor &t : n.others())
      ins.push_back(c.reshape(t, t.rank() == 2
                                     ? Dims{batch, groupCount, 1, 1}
                                     : Dims{groupCount, groupWidth, 1}));
    LoweredTensor y =
        c.pointwise(ins, grouped, n.dtype, [&](ScalarBuilder &s, ValueRange v) {
          return n.element(s, v);
        });
    c.setResult(0, c.reshape(y, sizes));
    return success();
  }
  int64_t width = groupWidth.value();
  c.setResult(
      0, mapIndexed(
             c, x, n.dtype,
             [&](ArrayRef<AffineExpr> i) {
               AffineExpr g = i[1].floorDiv(std::max<int64_t>(width, 1));
               SmallVector<Access> sides;
               for (const LoweredTensor &t : n.others())
                 sides.push_back({t, t.rank() == 2
                                         ? SmallVector<AffineExpr, 6>{i[0], g}
                                         : SmallVector<AffineExpr, 6>{i[1]}});
               return sides;
             },
             [&](ScalarBuilder &s, ValueRange v) { return n.element(s, v); }));
  return success();
}

/// (input, num_groups, weight, bias, eps).
static LogicalResult groupNorm(LowerCall &c) {
  return groups(c, c.integer(1), optional(c, 2), optional(c, 3), c.number(4));
}

/// (input, weight, bias, N, C, HxW, group, eps).
static LogicalResult nativeGroupNorm(LowerCall &c) {
  return groups(c, c.integer(6), optional(c, 1), optional(c, 2), c.number(7));
}

/// (input, weight, bias, running_mean, running_var, use_input_stats, momentum,
/// eps): each channel of each image on its own. What it does to the running
/// statistics functionalize has made calls of their own.
static LogicalResult instanceNorm(LowerCall &c) {
  if (!c.flag(5))
    return lowerBatchNorm(c);
  return groups(c, c.operand(0).dims()[1], optional(c, 1), optional(c, 2),
                c.number(7));
}

static const LowerRuleRow kRows[] = {
    anyShape("_fused_rms_norm.default", rmsNorm),
    anyShape("group_norm.default", groupNorm),
    anyShape("instance_norm.default", instanceNorm),
    anyShape("layer_norm.default", layerNorm),
    anyShape("native_group_norm.default", nativeGroupNorm),
    anyShape("native_layer_norm.default", layerNorm),
    anyShape("rms_norm.default", rmsNorm),
};

ArrayRef<LowerRuleRow> normLowerRules() { return kRows; }

} // namespace ft
