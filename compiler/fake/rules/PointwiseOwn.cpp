//===- PointwiseOwn.cpp - Elementwise ops with rules of their own *- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"

#include <cmath>

using namespace llvm;

namespace ft {

static LogicalResult clamp(FakeCall &c) {
  if (c.isNone(1) && c.isNone(2))
    return c.fail(FakeError::Other, "clamp needs a lower or an upper bound");
  return pointwise<Promote::Default, 7, Takes::NoComplex>(c);
}

static LogicalResult divMode(FakeCall &c) {
  if (c.isNone(2))
    return pointwise<Promote::IntToFloat, 3>(c);
  if (c.text(2) != "trunc" && c.text(2) != "floor")
    return c.fail(FakeError::Other,
                  "rounding_mode must be None, 'trunc' or 'floor', not '" +
                      c.text(2) + "'");
  return pointwise<Promote::Default, 3, Takes::NoComplex>(c);
}

static LogicalResult absolute(FakeCall &c) {
  if (c.device.kind == Device::Cpu && c.tensor(0).dtype == DType::Bool)
    return c.fail(FakeError::Unsupported,
                  c.schema().base + " has no kernel for bool on the CPU");
  return pointwise<Promote::ComplexToFloat>(c);
}

static LogicalResult angle(FakeCall &c) {
  return elementwise(c, {&c.tensor(0)}, toReal(toFloat(c.tensor(0).dtype)));
}

static LogicalResult floatPower(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, 3);
  if (failed(dtype))
    return failure();
  return elementwise(c, elementwiseTensors(c),
                     isComplex(*dtype) ? DType::C128 : DType::F64);
}

static LogicalResult whereOf(FakeCall &c) {
  const TensorMeta &condition = c.tensor(0);
  if (condition.dtype != DType::Bool && condition.dtype != DType::U8)
    return c.fail(FakeError::Dtype,
                  "the condition of where must be bool, not " +
                      dtypeName(condition.dtype));
  return pointwise<Promote::Default, 6>(c);
}

static LogicalResult maskedFill(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  const TensorMeta &mask = c.tensor(1);
  if (mask.dtype != DType::Bool)
    return c.fail(FakeError::Dtype,
                  "the mask must be bool, not " + dtypeName(mask.dtype));
  if (const TensorMeta *value = c.optTensor(2)) {
    if (!value->sizes.empty())
      return c.fail(FakeError::Shape,
                    "the value must have no dims, not " + Twine(value->rank()));
    if (isComplex(value->dtype) && !isComplex(self.dtype) &&
        self.dtype != DType::Bool)
      return c.fail(FakeError::Dtype, "a complex value does not fit a tensor "
                                      "of " +
                                          dtypeName(self.dtype));
  }
  if (c.arg(2).kind == Arg::Complex && !isComplex(self.dtype) &&
      self.dtype != DType::Bool && c.arg(2).imag != 0)
    return c.fail(FakeError::Dtype,
                  "a complex value does not fit a tensor of " +
                      dtypeName(self.dtype));
  double value = c.arg(2).kind == Arg::Float ? c.arg(2).real : 0;
  if (isIntegral(self.dtype) && self.dtype != DType::Bool &&
      !std::isfinite(value))
    return c.fail(FakeError::Other, "a value that is not finite does not fit a "
                                    "tensor of " +
                                        dtypeName(self.dtype));
  // A row-major copy of self that is then written, whatever the layouts.
  FailureOr<Dims> sizes = c.broadcast({&self, &mask});
  if (failed(sizes))
    return failure();
  TensorMeta out = TensorMeta::contiguous(self.dtype, *sizes, c.device);
  out.strides = selectedStrides({&mask, &self}, out.sizes);
  return c.fresh(std::move(out));
}

template <bool TensorWeight>
static LogicalResult lerp(FakeCall &c) {
  DType dtype = c.tensor(0).dtype;
  for (unsigned i : {1u, 2u}) {
    if (i == 2 && !TensorWeight)
      break;
    if (c.arg(i).kind == Arg::Tensor && c.tensor(i).dtype != dtype &&
        !(i == 2 && c.tensor(2).sizes.empty()))
      return c.fail(FakeError::Dtype, "lerp needs tensors of one dtype, not " +
                                          dtypeName(dtype) + " and " +
                                          dtypeName(c.tensor(i).dtype));
  }
  // A scalar weight of another kind makes the result of that kind.
  TypePromotion types;
  for (unsigned i = 0; i < 3; ++i)
    if (c.arg(i).kind == Arg::Tensor)
      types.add(c.tensor(i));
  return elementwise(c, elementwiseTensors(c), *types.result());
}

static LogicalResult complexOf(FakeCall &c) {
  DType real = c.tensor(0).dtype, imag = c.tensor(1).dtype;
  for (DType d : {real, imag})
    if (!isFloating(d) || d == DType::BF16)
      return c.fail(FakeError::Dtype,
                    c.schema().base +
                        " needs float16, float32 or float64, not " +
                        dtypeName(d));
  if (real != imag)
    return c.fail(FakeError::Dtype, "the two parts have dtypes " +
                                        dtypeName(real) + " and " +
                                        dtypeName(imag));
  return elementwise(c, elementwiseTensors(c), toComplex(real));
}

static LogicalResult heaviside(FakeCall &c) {
  if (c.arg(1).kind == Arg::Tensor && c.tensor(0).dtype != c.tensor(1).dtype)
    return c.fail(FakeError::Dtype, "heaviside needs one dtype, not " +
                                        dtypeName(c.tensor(0).dtype) + " and " +
                                        dtypeName(c.tensor(1).dtype));
  return pointwise<Promote::Default, 3, Takes::NoComplex>(c);
}

static LogicalResult ldexp(FakeCall &c) {
  // x * pow(2, y), the power in floating point and row-major.
  TypePromotion types;
  types.add(c.tensor(0));
  TensorMeta exponent = c.tensor(1);
  // Integer exponents leave the dtype of a float alone.
  DType self = c.tensor(0).dtype;
  if (exponent.dtype == DType::Bool && isFloating(self))
    return c.fail(FakeError::Dtype, "the exponents of " + dtypeName(self) +
                                        " numbers must not be bool");
  if (isIntegral(exponent.dtype)) {
    exponent.strides = contiguousStrides(exponent.sizes);
    return elementwise(c, {&c.tensor(0), &exponent}, toFloat(self));
  }
  exponent.dtype = toFloat(exponent.dtype);
  exponent.strides = contiguousStrides(exponent.sizes);
  types.add(exponent);
  std::optional<DType> dtype = types.result();
  if (!dtype)
    return noCommonDType(c, types);
  return elementwise(c, {&c.tensor(0), &exponent}, *dtype);
}

static LogicalResult powScalar(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, 3);
  if (failed(dtype))
    return failure();
  return c.fresh(TensorMeta::contiguous(*dtype, c.tensor(1).sizes, c.device));
}

/// where(self <= threshold, 0, grad): the gradient's dtype, with an integer.
static LogicalResult thresholdBackward(FakeCall &c) {
  TypePromotion types;
  types.add(c.tensor(0));
  types.add(Arg::integer(0));
  return elementwise(c, elementwiseTensors(c), *types.result());
}

static LogicalResult frexp(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (!isFloating(self.dtype))
    return c.fail(FakeError::Dtype,
                  "frexp needs a floating dtype, not " + dtypeName(self.dtype));
  if (failed(elementwise(c, {&self}, self.dtype)))
    return failure();
  return elementwise(c, {&self}, DType::I32);
}

static LogicalResult polygamma(FakeCall &c) {
  unsigned tensorArg = c.arg(0).kind == Arg::Tensor ? 0 : 1;
  if (c.lt(c.dim(1 - tensorArg), 0))
    return c.fail(FakeError::Other, "polygamma's order must not be negative, "
                                    "it is " +
                                        c.dim(1 - tensorArg).str());
  return elementwise(c, {&c.tensor(tensorArg)},
                     toFloat(c.tensor(tensorArg).dtype));
}

/// The order comes second here.
static LogicalResult polygammaInto(FakeCall &c) {
  if (failed(polygamma(c)))
    return failure();
  return finishInPlace(c);
}

/// Comparing lists of tensors compares their elements.
static LogicalResult dataDecides(FakeCall &c) {
  return c.fail(FakeError::DataDependent,
                "the value of " + c.schema().name + " depends on data");
}

static LogicalResult mvlgamma(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(checkTakes(c, self.dtype, Takes::NoBoolNoComplex)))
    return failure();
  if (c.lt(c.dim(1), 1))
    return c.fail(FakeError::Other,
                  "mvlgamma's p must be at least 1, it is " + c.dim(1).str());
  // A sum over p terms: laid out as sums are.
  return c.fresh(
      TensorMeta::contiguous(toFloat(self.dtype), self.sizes, c.device));
}

static LogicalResult gluSizes(FakeCall &c, const TensorMeta &self,
                              unsigned dimArg, int64_t &dim) {
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "glu needs at least one dim");
  FailureOr<int64_t> wrapped = c.wrapDim(dimArg, self.rank());
  if (failed(wrapped))
    return failure();
  dim = *wrapped;
  if (!c.mustEq(mod(self.sizes[dim], 2), 0))
    return c.fail(FakeError::Shape, "glu halves dim " + Twine(dim) +
                                        ", whose size " +
                                        self.sizes[dim].str() + " is odd");
  return success();
}

static LogicalResult glu(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  int64_t dim;
  if (failed(gluSizes(c, self, 1, dim)))
    return failure();
  // Elementwise over the two halves.
  TensorMeta half = self;
  half.sizes[dim] = floorDiv(self.sizes[dim], 2);
  return elementwise(c, {&half, &half}, self.dtype);
}

/// (glu, x, dx, dim): as glu.
static LogicalResult gluJvp(FakeCall &c) {
  const TensorMeta &x = c.tensor(1);
  int64_t dim;
  if (failed(gluSizes(c, x, 3, dim)))
    return failure();
  return elementwise(c, {&c.tensor(0)}, x.dtype);
}

static LogicalResult gluBackward(FakeCall &c) {
  const TensorMeta &self = c.tensor(1);
  int64_t dim;
  if (failed(gluSizes(c, self, 2, dim)))
    return failure();
  Dims half = self.sizes;
  half[dim] = floorDiv(half[dim], 2);
  if (failed(c.broadcastTo(c.tensor(0).sizes, half, &c.tensor(0))))
    return failure();
  FailureOr<DType> dtype = promotedDType(c, 3);
  if (failed(dtype))
    return failure();
  return c.fresh(TensorMeta::contiguous(*dtype, self.sizes, c.device));
}

static LogicalResult logSigmoidForward(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  // The CPU kernel fills row-major tensors, and is the one to use the buffer.
  if (c.device.kind == Device::Cpu) {
    TensorMeta out = TensorMeta::contiguous(self.dtype, self.sizes, c.device);
    (void)c.fresh(out);
    return c.fresh(std::move(out));
  }
  if (failed(elementwise(c, {&self}, self.dtype)))
    return failure();
  Dim none[] = {Dim(0)};
  return c.fresh(TensorMeta::contiguous(self.dtype, none, c.device));
}

static LogicalResult logSigmoidBackward(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, 7);
  if (failed(dtype))
    return failure();
  // The buffer of the forward pass is empty where the device needs none.
  if (c.tensor(2).numel().is(0))
    return elementwise(c, {&c.tensor(0), &c.tensor(1)}, *dtype);
  return elementwise(c, {&c.tensor(0), &c.tensor(1), &c.tensor(2)}, *dtype);
}

static LogicalResult prelu(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  const TensorMeta &weight = c.tensor(1);
  if (self.dtype != weight.dtype)
    return c.fail(FakeError::Dtype, "prelu needs one dtype, not " +
                                        dtypeName(self.dtype) + " and " +
                                        dtypeName(weight.dtype));
  if (!weight.numel().is(1)) {
    if (self.sizes.empty())
      return c.fail(FakeError::Shape, "prelu of a tensor without dims takes "
                                      "one weight");
    Dim channels = self.rank() > 1 ? self.sizes[1] : Dim(1);
    if (!c.mustEq(channels, weight.numel()))
      return c.fail(FakeError::Shape, "prelu has " + weight.numel().str() +
                                          " weights for " + channels.str() +
                                          " channels");
  }
  if (weight.rank() > 1)
    return c.fail(FakeError::Dim, "prelu's weight must have at most 1 dim, "
                                  "not " +
                                      Twine(weight.rank()));
  return elementwise(c, {&self}, self.dtype);
}

static LogicalResult preluKernelBackward(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, 7);
  if (failed(dtype) || failed(elementwise(c, elementwiseTensors(c), *dtype)))
    return failure();
  FailureOr<DType> weight = promotedDType(c, 3);
  if (failed(weight))
    return failure();
  return elementwise(c, elementwiseTensors(c), *weight);
}

static LogicalResult logSigmoid(FakeCall &c) {
  return elementwise(c, {&c.tensor(0)}, c.tensor(0).dtype);
}

ArrayRef<FakeRuleRow> pointwiseOwnRules() {
  static const FakeRuleRow rows[] = {
      {"_prelu_kernel.default", pointwise<Promote::Default>},
      {"_prelu_kernel_backward.default", preluKernelBackward},
      {"abs.default", absolute},
      {"absolute.default", absolute},
      {"angle.default", angle},
      {"clamp.Tensor", clamp},
      {"clamp.default", clamp},
      {"clamp_max.Tensor", pointwise<Promote::Default, 3, Takes::NoComplex>},
      {"clamp_max.default", pointwise<Promote::Default, 3, Takes::NoComplex>},
      {"clamp_min.Tensor", pointwise<Promote::Default, 3, Takes::NoComplex>},
      {"clamp_min.default", pointwise<Promote::Default, 3, Takes::NoComplex>},
      {"clip.Tensor", clamp},
      {"clip.default", clamp},
      {"complex.default", complexOf},
      {"div.Scalar_mode", divMode},
      {"div.Tensor_mode", divMode},
      {"divide.Scalar_mode", divMode},
      {"divide.Tensor_mode", divMode},
      {"eq.Tensor_list", dataDecides},
      {"float_power.Scalar", floatPower},
      {"float_power.Tensor_Scalar", floatPower},
      {"float_power.Tensor_Tensor", floatPower},
      {"frexp.Tensor", frexp},
      {"glu.default", glu},
      {"glu_backward.default", gluBackward},
      {"glu_jvp.default", gluJvp},
      {"heaviside.default", heaviside},
      {"ldexp.Tensor", ldexp},
      {"lerp.Scalar", lerp<false>},
      {"lerp.Tensor", lerp<true>},
      {"log_sigmoid.default", logSigmoid},
      {"log_sigmoid_backward.default", logSigmoidBackward},
      {"log_sigmoid_forward.default", logSigmoidForward},
      {"masked_fill.Scalar", maskedFill},
      {"masked_fill.Tensor", maskedFill},
      {"index.list_Tensor", dataDecides},
      {"mvlgamma.default", mvlgamma},
      {"ne.Tensor_list", dataDecides},
      {"polar.default", complexOf},
      {"polygamma.default", polygamma},
      {"polygamma_.default", polygammaInto},
      {"pow.Scalar", powScalar},
      {"prelu.default", prelu},
      {"sort.Tensor", dataDecides},
      {"special_multigammaln.default", mvlgamma},
      {"special_polygamma.default", polygamma},
      {"threshold_backward.default", thresholdBackward},
      {"where.Scalar", whereOf},
      {"where.ScalarOther", whereOf},
      {"where.ScalarSelf", whereOf},
      {"where.self", whereOf},
  };
  return rows;
}

} // namespace ft
