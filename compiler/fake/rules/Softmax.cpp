//===- Softmax.cpp - Softmax and its derivatives ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results are row-major whatever the input's layout.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

static LogicalResult along(FakeCall &c, const TensorMeta &self, unsigned dimArg,
                           DType dtype) {
  if (failed(c.wrapDim(dimArg, self.rank())))
    return failure();
  return c.fresh(TensorMeta::contiguous(dtype, self.sizes, c.device));
}

static LogicalResult softmaxKernel(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  // A bool has no difference to its maximum.
  if (c.schema().base == "_log_softmax" && self.dtype == DType::Bool)
    return c.fail(FakeError::Dtype, "_log_softmax is not defined for bool");
  if (!c.flag(2))
    return along(c, self, 1, self.dtype);
  if (self.dtype != DType::F16 && self.dtype != DType::BF16)
    return c.fail(FakeError::Dtype,
                  "half_to_float needs float16 or bfloat16, not " +
                      dtypeName(self.dtype));
  return along(c, self, 1, DType::F32);
}

/// softmax.int: integers are converted by `dtype` only.
static LogicalResult softmax(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  DType dtype = c.dtype(2).value_or(self.dtype);
  if (!isFloating(dtype) && !isComplex(dtype))
    return c.fail(FakeError::Dtype, c.schema().base +
                                        " needs a floating dtype, not " +
                                        dtypeName(dtype));
  return along(c, self, 1, dtype);
}

static LogicalResult safeSoftmax(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  return along(c, self, 1, c.dtype(2).value_or(self.dtype));
}

/// (grad, output, dim, input_dtype)
static LogicalResult softmaxBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &output = c.tensor(1);
  if (failed(c.wrapDim(2, grad.rank())))
    return failure();
  if (!c.sameSizes(grad.sizes, output.sizes))
    return c.fail(FakeError::Shape, "the gradient " + c.show(grad) +
                                        " does not have the size of " +
                                        c.show(output) +
                                        unlike(grad.sizes, output.sizes));
  DType dtype = c.dtype(3).value_or(grad.dtype);
  // The CPU kernel of full precision converts to half precision only.
  bool full = grad.dtype == DType::F32 || grad.dtype == DType::F64;
  if (c.device.kind == Device::Cpu && full && grad.dtype == output.dtype &&
      dtype != DType::F16 && dtype != DType::BF16)
    dtype = grad.dtype;
  return c.fresh(TensorMeta::contiguous(dtype, grad.sizes, c.device));
}

static LogicalResult maskedSoftmax(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (c.tensor(1).dtype != DType::Bool)
    return c.fail(FakeError::Dtype,
                  "the mask must be bool, not " + dtypeName(c.tensor(1).dtype));
  return c.fresh(TensorMeta::contiguous(self.dtype, self.sizes, c.device));
}

ArrayRef<FakeRuleRow> softmaxRules() {
  static const FakeRuleRow rows[] = {
      {"_log_softmax.default", softmaxKernel},
      {"_log_softmax_backward_data.default", softmaxBackward},
      {"_masked_softmax.default", maskedSoftmax},
      {"_safe_softmax.default", safeSoftmax},
      {"_softmax.default", softmaxKernel},
      {"_softmax_backward_data.default", softmaxBackward},
      {"log_softmax.int", softmax},
      {"softmax.int", softmax},
      {"special_log_softmax.default", softmax},
      {"special_softmax.default", softmax},
  };
  return rows;
}

} // namespace ft
