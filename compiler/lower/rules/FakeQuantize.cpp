//===- FakeQuantize.cpp - Lowering of simulated quantization ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   q = zero_point + round(x / scale)     y = (clamp(q) - zero_point) * scale
//
// The mask, which the gradient needs, says where clamp changed nothing.

#include "compiler/lower/Gather.h"
#include "compiler/lower/rules/Composites.h"
#include "compiler/lower/rules/Indexed.h"

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

/// (self, scale, zero_point, [axis,] quant_min, quant_max): numbers or tensors
/// of one element, or one element for each place along `axis`.
template <bool PerChannel>
static LogicalResult fakeQuantize(LowerCall &c) {
  LoweredTensor x = c.operand(0);
  unsigned bounds = PerChannel ? 4 : 3;
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
          Quantized q = quantized(s, s.cast(v[0], x.dtype, work), parts[0],
                                  parts[1], low, high);
          return mask ? s.cast(q.mask, DType::Bool, dtype)
                      : s.cast(q.value, work, dtype);
        });
  };
  c.setResult(0, compute(false, c.resultMeta(0).dtype));
  if (c.numResults() > 1)
    c.setResult(1, compute(true, c.resultMeta(1).dtype));
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
      {"fake_quantize_per_channel_affine.default", fakeQuantize<true>},
      {"fake_quantize_per_channel_affine_cachemask.default",
       fakeQuantize<true>},
      {"fake_quantize_per_channel_affine_cachemask_backward.default", backward},
      {"fake_quantize_per_tensor_affine.default", fakeQuantize<false>},
      {"fake_quantize_per_tensor_affine.tensor_qparams", fakeQuantize<false>},
      {"fake_quantize_per_tensor_affine_cachemask.default",
       fakeQuantize<false>},
      {"fake_quantize_per_tensor_affine_cachemask_backward.default", backward},
  };
  return rows;
}

} // namespace ft
