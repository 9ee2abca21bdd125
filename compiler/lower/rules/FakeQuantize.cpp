//===- FakeQuantize.cpp - Lowering of simulated quantization ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   q = zero_point + round(x / scale)     y = (clamp(q) - zero_point) * scale
//
// The mask, which the gradient needs, says where clamp changed nothing.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Indexed.h"
#include "compiler/lower/rules/Reducing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ft {

namespace {
struct Quantized {
  Value value, mask;
};
} // namespace

/// All of one float type.
static Quantized quantized(ScalarBuilder &s, Value x, Value scale, Value zero,
                           double low, double high) {
  using Cmp = ScalarBuilder::Cmp;
  Type type = x.getType();
  Value q = s.mul(x, s.div(s.one(x), scale));
  q = s.add(math::RoundEvenOp::create(s.b, s.loc, q), zero);
  Value least = s.constant(type, low), most = s.constant(type, high);
  Value mask = arith::AndIOp::create(s.b, s.loc, s.cmp(Cmp::Ge, q, least),
                                     s.cmp(Cmp::Le, q, most));
  // NaN becomes the least.
  Value kept = s.select(s.cmp(Cmp::Gt, q, least), q, least);
  kept = s.select(s.cmp(Cmp::Lt, kept, most), kept, most);
  return {s.mul(s.sub(kept, zero), scale), mask};
}

enum class ZeroPoint {
  Given,
  /// A parameter that is trained: rounded, and brought between the bounds.
  Learned
};

static Value zeroPoint(ScalarBuilder &s, Value zero, ZeroPoint kind, double low,
                       double high) {
  if (kind == ZeroPoint::Given)
    return zero;
  Type type = zero.getType();
  Value rounded = math::RoundEvenOp::create(s.b, s.loc, zero);
  return s.minimum(s.maximum(rounded, s.constant(type, low)),
                   s.constant(type, high));
}

/// (self, scale, zero_point, [axis or enabled,] quant_min, quant_max): numbers
/// or tensors of one element, or one element for each place along `axis`.
template <bool PerChannel, ZeroPoint Kind = ZeroPoint::Given,
          bool Switched = false>
static LogicalResult fakeQuantize(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  unsigned bounds = PerChannel || Switched ? 4 : 3;
  auto low = static_cast<double>(c.integer(bounds));
  auto high = static_cast<double>(c.integer(bounds + 1));
  // PyTorch's kernel for one scale computes float64 in float32, too.
  DType work = PerChannel ? opmathType(x.dtype) : DType::F32;
  unsigned axis = PerChannel ? LowerCall::wrapDim(c.integer(3), x.rank()) : 0;
  SmallVector<LoweredTensor> sides;
  int place[2] = {-1, -1};
  for (unsigned i : {0U, 1U})
    if (c.call().args[1 + i].kind == Arg::Tensor) {
      place[i] = static_cast<int>(sides.size()) + 1;
      LoweredTensor t = c.operand(1 + i);
      sides.push_back(PerChannel || t.rank() == 0 ? t : c.reshape(t, {}));
    }
  if (Switched)
    sides.push_back(c.reshape(c.operand(3), {}));
  auto compute = [&](bool mask, DType dtype) {
    return mapIndexed(
        c, x, dtype,
        [&](ArrayRef<AffineExpr> index) {
          SmallVector<Access> accesses;
          for (const LoweredTensor &t : sides) {
            Access access{t, {}};
            if (PerChannel)
              access.index.push_back(index[axis]);
            accesses.push_back(std::move(access));
          }
          return accesses;
        },
        [&](ScalarBuilder &s, ValueRange v) {
          Type type = computeType(s.b.getContext(), work);
          Value parts[2];
          for (unsigned i : {0U, 1U})
            parts[i] = place[i] < 0 ? s.constant(type, c.number(1 + i))
                                    : s.cast(v[place[i]],
                                             sides[place[i] - 1].dtype, work);
          Value zero = zeroPoint(s, parts[1], Kind, low, high);
          Quantized q = quantized(s, s.cast(v[0], x.dtype, work), parts[0],
                                  zero, low, high);
          if (Switched) {
            Value on = s.cast(v.back(), sides.back().dtype, DType::Bool);
            Value yes = s.constantInt(q.mask.getType(), 1);
            if (mask)
              return s.cast(s.select(on, q.mask, yes), DType::Bool, dtype);
            return s.select(on, s.cast(q.value, work, dtype),
                            s.cast(v[0], x.dtype, dtype));
          }
          return mask ? s.cast(q.mask, DType::Bool, dtype)
                      : s.cast(q.value, work, dtype);
        });
  };
  c.setResult(0, compute(false, c.resultMeta(0).dtype));
  if (c.numResults() > 1)
    c.setResult(1, compute(true, c.resultMeta(1).dtype));
  return success();
}

/// The gradients of learned parameters: (grad, self, scale, zero_point, [axis,]
/// quant_min, quant_max, grad_factor) -> of self, of scale, of zero_point.
///
///   rounded between the bounds   1   (y - x) / scale     0
///   clamped                      0   bound - zero_point  -scale
///
/// the last two times grad_factor and summed. Where the zero point has no slope
/// a gradient that is not finite does not count; the others are products.
template <bool PerChannel>
static LogicalResult learnedBackward(LowerCall &c) {
  using Cmp = ScalarBuilder::Cmp;
  LoweredTensor grad = c.operand(0), x = c.operand(1);
  unsigned bounds = PerChannel ? 5 : 4;
  auto low = static_cast<double>(c.integer(bounds));
  auto high = static_cast<double>(c.integer(bounds + 1));
  double factor = c.number(bounds + 2);
  DType work = opmathType(x.dtype);
  unsigned axis = PerChannel ? LowerCall::wrapDim(c.integer(4), x.rank()) : 0;
  SmallVector<LoweredTensor> ins = {grad, x};
  Dims wide(x.rank(), 1);
  if (PerChannel)
    wide[axis] = x.dims()[axis];
  for (unsigned arg : {2U, 3U})
    ins.push_back(c.reshape(c.operand(arg), wide));
  auto compute = [&](unsigned r, DType dtype) {
    return c.pointwise(
        ins, x.dims(), dtype, [&](ScalarBuilder &s, ValueRange v) {
          auto in = [&](unsigned i) {
            return s.cast(v[i], ins[i].dtype, work);
          };
          Value g = in(0), e = in(1), scale = in(2);
          Value zero = zeroPoint(s, in(3), ZeroPoint::Learned, low, high);
          Quantized q = quantized(s, e, scale, zero, low, high);
          auto number = [&](double n) { return s.constant(e.getType(), n); };
          if (r == 0)
            return s.cast(s.mul(g, s.select(q.mask, s.one(g), s.zero(g))), work,
                          dtype);
          Value slope;
          if (r == 1) {
            Value inside = s.mul(s.sub(q.value, e), s.div(s.one(scale), scale));
            Value steps = s.add(s.div(q.value, scale), zero);
            Value middle = number((low + high) / 2);
            Value bound = s.select(s.cmp(Cmp::Lt, steps, middle), number(low),
                                   number(high));
            slope = s.select(q.mask, inside, s.sub(bound, zero));
          } else {
            g = s.select(q.mask, s.zero(g), g);
            slope = s.neg(scale);
          }
          return s.cast(s.mul(s.mul(slope, g), number(factor)), work, dtype);
        });
  };
  c.setResult(0, compute(0, c.resultMeta(0).dtype));
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < x.rank(); ++d)
    if (!PerChannel || d != axis)
      dims.push_back(d);
  for (unsigned r : {1U, 2U}) {
    c.newGroup();
    LoweredTensor sum = sumOf(c, compute(r, work), dims, false, work);
    c.setResult(r, c.cast(c.reshape(sum, dimsOf(c.resultMeta(r))),
                          c.resultMeta(r).dtype));
  }
  return success();
}

/// (grad, mask)
static LogicalResult backward(LowerCall &c) {
  LoweredTensor grad = c.operand(0), mask = c.operand(1);
  DType dtype = c.resultMeta(0).dtype, work = opmathType(dtype);
  c.setResult(0, c.pointwise({grad, mask}, c.resultMeta(0),
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value g = s.cast(v[0], grad.dtype, work);
                               Value m = s.cast(v[1], mask.dtype, work);
                               return s.cast(s.mul(g, m), work, dtype);
                             }));
  return success();
}

ArrayRef<LowerRuleRow> fakeQuantizeLowerRules() {
  static const LowerRuleRow rows[] = {
      anyShape("_fake_quantize_learnable_per_channel_affine.default",
               fakeQuantize<true, ZeroPoint::Learned>),
      anyShape("_fake_quantize_learnable_per_channel_affine_backward.default",
               learnedBackward<true>),
      anyShape("_fake_quantize_learnable_per_tensor_affine.default",
               fakeQuantize<false, ZeroPoint::Learned>),
      anyShape("_fake_quantize_learnable_per_tensor_affine_backward.default",
               learnedBackward<false>),
      anyShape(
          "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
          fakeQuantize<false, ZeroPoint::Given, true>),
      anyShape("fake_quantize_per_channel_affine.default", fakeQuantize<true>),
      anyShape("fake_quantize_per_channel_affine_cachemask.default",
               fakeQuantize<true>),
      anyShape("fake_quantize_per_channel_affine_cachemask_backward.default",
               backward),
      anyShape("fake_quantize_per_tensor_affine.default", fakeQuantize<false>),
      anyShape("fake_quantize_per_tensor_affine.tensor_qparams",
               fakeQuantize<false>),
      anyShape("fake_quantize_per_tensor_affine_cachemask.default",
               fakeQuantize<false>),
      anyShape("fake_quantize_per_tensor_affine_cachemask_backward.default",
               backward),
  };
  return rows;
}

} // namespace ft
