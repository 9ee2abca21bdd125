//===- Quantize.cpp - Quantized tensors and what imitates them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fake_quantize rounds floats as quantization would; its results are floats.
// Tensors of quantized dtypes (quint8, qint8, qint32) are not part of the
// dialect: whatever makes one is refused by name.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/Refusals.h"

using namespace llvm;

namespace ft {

static LogicalResult makesQuantized(FakeCall &c) {
  return noKernel(c, "tensors of quantized dtypes are not; keep scales and "
                     "zero points beside int8 tensors instead");
}

/// Of a tensor that is not quantized: the same one, or a float32 copy.
static LogicalResult dequantize(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (self.dtype == DType::F32)
    return c.view(self, 0);
  return elementwise(c, {&self}, DType::F32);
}

/// quant_min and quant_max in `first` and after it.
static LogicalResult checkRange(FakeCall &c, unsigned first) {
  if (!c.lt(c.dim(first + 1), c.dim(first)))
    return success();
  return c.fail(FakeError::Other, "quant_min " + c.dim(first).str() +
                                      " is above quant_max " +
                                      c.dim(first + 1).str());
}

static LogicalResult like(FakeCall &c, const TensorMeta &self, DType dtype) {
  TensorMeta out = self;
  out.strides = likeStrides(self);
  out.offset = 0;
  out.dtype = dtype;
  return c.fresh(std::move(out));
}

/// The rounded values, and if `Mask` which of them were in range.
template <bool Mask>
static LogicalResult rounded(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkTakes(c, self.dtype, Takes::Floating)))
    return failure();
  if (failed(like(c, self, self.dtype)))
    return failure();
  return Mask ? like(c, self, DType::Bool) : success();
}

/// (self, scale, zero_point, quant_min, quant_max)
template <bool Mask>
static LogicalResult perTensor(FakeCall &c) {
  if (failed(checkRange(c, c.schema().argIndex("quant_min"))))
    return failure();
  if (c.arg(2).kind == Arg::Int &&
      (c.lt(c.dim(2), c.dim(3)) || c.lt(c.dim(4), c.dim(2))))
    return c.fail(FakeError::Other, "the zero point " + c.dim(2).str() +
                                        " is not between " + c.dim(3).str() +
                                        " and " + c.dim(4).str());
  for (unsigned i : {1u, 2u})
    if (const TensorMeta *t = c.optTensor(i); t && !c.mustEq(t->numel(), 1))
      return c.fail(FakeError::Other, "'" + c.schema().args[i].name +
                                          "' must be one number, it is " +
                                          c.show(*t));
  return rounded<Mask>(c);
}

/// (self, scale, zero_point, axis, quant_min, quant_max): one scale and zero
/// point for each entry of `axis`.
template <bool Mask>
static LogicalResult perChannel(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &scale = c.tensor(1);
  const TensorMeta &zero = c.tensor(2);
  if (scale.dtype != DType::F32)
    return c.fail(FakeError::Dtype,
                  "the scales must be float32, not " + dtypeName(scale.dtype));
  if (zero.dtype != DType::I32 && zero.dtype != DType::F32 &&
      zero.dtype != DType::F16)
    return c.fail(FakeError::Dtype, "the zero points must be int32, float32 or "
                                    "float16, not " +
                                        dtypeName(zero.dtype));
  for (const TensorMeta *t : {&scale, &zero})
    if (t->rank() != 1)
      return c.fail(FakeError::Dim, "scales and zero points need 1 dim, not " +
                                        Twine(t->rank()));
  if (failed(checkRange(c, 4)))
    return failure();
  Dim axis = c.dim(3);
  if (!axis.isStatic() || axis.value() < 0 || axis.value() >= self.rank())
    return c.fail(FakeError::Dim, "axis " + axis.str() +
                                      " is out of range for " +
                                      Twine(self.rank()) + " dims");
  Dim count = self.sizes[axis.value()];
  for (const TensorMeta *t : {&scale, &zero})
    if (!c.mustEq(t->sizes[0], count))
      return c.fail(FakeError::Shape, "there are " + t->sizes[0].str() +
                                          " scales or zero points for " +
                                          count.str() + " channels");
  return rounded<Mask>(c);
}

static LogicalResult rangeHasZero(FakeCall &c) {
  int least = c.schema().argIndex("quant_min");
  if (failed(checkRange(c, least)))
    return failure();
  if (!c.lt(0, c.dim(least)) && !c.lt(c.dim(least + 1), 0))
    return success();
  return c.fail(FakeError::Other, "the range " + c.dim(least).str() + " to " +
                                      c.dim(least + 1).str() + " must hold 0");
}

/// Scales and zero points that are learned are floats of any value.
template <bool PerChannel>
static LogicalResult learnable(FakeCall &c) {
  if (failed(rangeHasZero(c)))
    return failure();
  const TensorMeta &self = c.tensor(0), &scale = c.tensor(1);
  Dim count = 1;
  if (PerChannel) {
    FailureOr<int64_t> axis = c.wrapDim(3, self.rank());
    if (failed(axis))
      return failure();
    if (self.sizes.empty() || scale.rank() != 1)
      return c.fail(FakeError::Dim, "scales need 1 dim, the tensor at least "
                                    "one");
    count = self.sizes[*axis];
  }
  for (unsigned i : {1u, 2u})
    if (!c.mustEq(c.tensor(i).numel(), count))
      return c.fail(FakeError::Shape, c.show(c.tensor(i)) + " must have " +
                                          count.str() + " entries");
  return rounded<false>(c);
}

/// (grad, self, scale, zero_point, …): the gradients of the last three.
static LogicalResult learnableBackward(FakeCall &c) {
  if (failed(rangeHasZero(c)))
    return failure();
  for (unsigned i : {0u, 1u})
    if (!c.sameSizes(c.tensor(i).sizes, c.tensor(1).sizes) ||
        failed(checkTakes(c, c.tensor(i).dtype, Takes::Floating)))
      return c.fail(FakeError::Shape,
                    !c.sameSizes(c.tensor(0).sizes, c.tensor(1).sizes)
                        ? "'grad' does not have the size of 'self'" +
                              unlike(c.tensor(0).sizes, c.tensor(1).sizes)
                        : "'grad' and 'self' must be floating, they are " +
                              dtypeName(c.tensor(0).dtype).str() + " and " +
                              dtypeName(c.tensor(1).dtype).str());
  for (unsigned i : {1u, 2u, 3u})
    (void)like(c, c.tensor(i), c.tensor(i).dtype);
  return success();
}

/// (grad, mask)
static LogicalResult maskBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &mask = c.tensor(1);
  if (mask.dtype != DType::Bool)
    return c.fail(FakeError::Dtype,
                  "the mask must be bool, not " + dtypeName(mask.dtype));
  if (!c.mustEq(grad.numel(), mask.numel()))
    return c.fail(FakeError::Shape, c.nameOf(&mask) + " has " +
                                        mask.numel().str() + " elements, " +
                                        c.nameOf(&grad) + " " +
                                        grad.numel().str());
  if (grad.numel().is(0))
    return c.view(grad, 0);
  return elementwise(c, {&grad, &mask}, grad.dtype);
}

/// (self, switches of observer and rounding, smallest and greatest value so
/// far, scale, zero point, …): the observer writes what it has seen; the
/// functional form returns it. `Results`: the values, with the mask, with both.
template <unsigned Results>
static LogicalResult observed(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkTakes(c, self.dtype, Takes::Floating)))
    return failure();
  (void)like(c, self, self.dtype);
  if (Results > 1)
    (void)like(c, self, DType::Bool);
  for (unsigned i = 3; Results > 2 && i < 7; ++i)
    (void)like(c, c.tensor(i), c.tensor(i).dtype);
  return success();
}

ArrayRef<FakeRuleRow> quantizeRules() {
  static const FakeRuleRow rows[] = {
      {"_fake_quantize_learnable_per_channel_affine.default", learnable<true>},
      {"_fake_quantize_learnable_per_channel_affine_backward.default",
       learnableBackward},
      {"_fake_quantize_learnable_per_tensor_affine.default", learnable<false>},
      {"_fake_quantize_learnable_per_tensor_affine_backward.default",
       learnableBackward},
      {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
       perTensor<true>},
      {"_fused_moving_avg_obs_fq_helper.default", observed<2>},
      {"_fused_moving_avg_obs_fq_helper_functional.default", observed<3>},
      {"_make_per_tensor_quantized_tensor.default", makesQuantized},
      {"dequantize.self", dequantize},
      {"dequantize.tensor", dequantize},
      {"dequantize.tensors", makesQuantized},
      {"fake_quantize_per_channel_affine.default", perChannel<false>},
      {"fake_quantize_per_channel_affine_cachemask.default", perChannel<true>},
      {"fake_quantize_per_channel_affine_cachemask_backward.default",
       maskBackward},
      {"fake_quantize_per_tensor_affine.default", perTensor<false>},
      {"fake_quantize_per_tensor_affine.tensor_qparams", perTensor<false>},
      {"fake_quantize_per_tensor_affine_cachemask.default", perTensor<true>},
      {"fake_quantize_per_tensor_affine_cachemask_backward.default",
       maskBackward},
      {"fused_moving_avg_obs_fake_quant.default", observed<1>},
      {"quantize_per_channel.default", makesQuantized},
      {"quantize_per_tensor.default", makesQuantized},
      {"quantize_per_tensor.tensor_qparams", makesQuantized},
      {"quantize_per_tensor.tensors", makesQuantized},
      {"quantize_per_tensor_dynamic.default", makesQuantized},
  };
  return rows;
}

} // namespace ft
