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
  if (failed(checkRange(c, 3)))
    return failure();
  if (c.arg(2).kind == Arg::Int &&
      (c.lt(c.dim(2), c.dim(3)) || c.lt(c.dim(4), c.dim(2))))
    return c.fail(FakeError::Other, "the zero point " + c.dim(2).str() +
                                        " is not between " + c.dim(3).str() +
                                        " and " + c.dim(4).str());
  for (unsigned i : {1u, 2u})
    if (const TensorMeta *t = c.optTensor(i); t && !c.eq(t->numel(), 1))
      return c.fail(FakeError::Other, "'" + c.schema().args[i].name +
                                          "' must be one number, it is " +
                                          t->str());
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
    if (!c.eq(t->sizes[0], count))
      return c.fail(FakeError::Shape, "there are " + t->sizes[0].str() +
                                          " scales or zero points for " +
                                          count.str() + " channels");
  return rounded<Mask>(c);
}

ArrayRef<FakeRuleRow> quantizeRules() {
  static const FakeRuleRow rows[] = {
      {"_make_per_tensor_quantized_tensor.default", makesQuantized},
      {"dequantize.self", dequantize},
      {"dequantize.tensor", dequantize},
      {"dequantize.tensors", makesQuantized},
      {"fake_quantize_per_channel_affine.default", perChannel<false>},
      {"fake_quantize_per_tensor_affine.default", perTensor<false>},
      {"fake_quantize_per_tensor_affine.tensor_qparams", perTensor<false>},
      {"quantize_per_tensor.default", makesQuantized},
      {"quantize_per_tensor.tensor_qparams", makesQuantized},
      {"quantize_per_tensor.tensors", makesQuantized},
  };
  return rows;
}

} // namespace ft
