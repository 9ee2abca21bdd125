//===- Pointwise.cpp - Elementwise ops that differ only in dtype *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nearly all elementwise ops have the same rule: broadcast the tensors, promote
// the dtypes, lay out as StrideRules says. They are listed here by what they do
// with the promoted dtype; those with more to say are in PointwiseOwn.cpp.

#include "compiler/fake/rules/Elementwise.h"
#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

namespace {
/// Ops with one rule: each name with each overload.
struct Group {
  FakeRule rule;
  std::vector<StringRef> overloads;
  std::vector<StringRef> names;
};
} // namespace

// Arguments 0 and 1 take part in promotion, whether tensor or number.
static constexpr uint32_t kBoth = 3;

/// add, sub: the scale of the second operand must fit the result's dtype.
template <Takes What>
static LogicalResult scaledSum(FakeCall &c) {
  FailureOr<DType> dtype = promotedDType(c, kBoth);
  if (failed(dtype) || failed(checkTakes(c, *dtype, What)))
    return failure();
  for (unsigned i : {0u, 1u}) {
    bool isBool = c.arg(i).kind == Arg::Tensor
                      ? c.tensor(i).dtype == DType::Bool
                      : c.arg(i).kind == Arg::Bool;
    if (What == Takes::NoBool && isBool)
      return c.fail(FakeError::Dtype, c.schema().base +
                                          " is not defined for bool; use "
                                          "bitwise_xor or logical_not");
  }
  if (failed(checkScale(c, c.arg(2), *dtype)))
    return failure();
  return elementwise(c, elementwiseTensors(c), *dtype);
}

/// Activations whose numbers are turned into the tensor's dtype.
static LogicalResult numbersFit(FakeCall &c) {
  if (c.arg(0).kind != Arg::Tensor)
    return c.fail(FakeError::Other, "'self' must be a tensor");
  DType dtype = c.tensor(0).dtype;
  for (auto [i, arg] : enumerate(c.arguments())) {
    if (c.schema().args[i].type.kind != SchemaType::Scalar)
      continue;
    bool fits = arg.kind == Arg::Float     ? !isIntegral(dtype)
                : arg.kind == Arg::Complex ? isComplex(dtype)
                : arg.kind == Arg::Int     ? dtype != DType::Bool
                                           : true;
    if (!fits)
      return c.fail(FakeError::Dtype, "argument '" + c.schema().args[i].name +
                                          "' does not fit a tensor of " +
                                          dtypeName(dtype));
  }
  return elementwise(c, {&c.tensor(0)}, dtype);
}

/// Kernels that select elements: dims of one element, too, are laid out by
/// their strides. Source: PyTorch's shape functions.
///   relu [3, 1] strides [1, 7] → [1, 3]
template <uint32_t Typed, Takes What>
static LogicalResult ordered(FakeCall &c) {
  if (failed(pointwise<Promote::Default, Typed, What>(c)))
    return failure();
  TensorMeta &out = c.results.front().meta;
  if (isContiguous(c.tensor(0)))
    out.strides = orderedStrides({&c.tensor(0)}, out.sizes);
  return success();
}

/// hardtanh(self, min_val, max_val): a clamp, whose bounds the dtype holds.
static LogicalResult hardtanh(FakeCall &c) {
  if (isUnsigned(c.tensor(0).dtype) && (c.number(1) < 0 || c.number(2) < 0))
    return c.fail(FakeError::Dtype, "hardtanh of " +
                                        dtypeName(c.tensor(0).dtype) +
                                        " has no negative bounds");
  return ordered<1, Takes::Any>(c);
}

/// (grad, …, self): computed as a selection by `self`, whose layout so comes
/// first; but for leaky_relu, the CPU has kernels in which the gradient's does.
template <bool OnCpu>
static LogicalResult savedFirst(FakeCall &c) {
  if (failed(pointwise<Promote::Default>(c)))
    return failure();
  auto tensors = elementwiseTensors(c);
  std::reverse(tensors.begin(), tensors.end());
  TensorMeta &out = c.results.front().meta;
  if (OnCpu || c.device.kind != Device::Cpu)
    out.strides = elementwiseStrides(tensors, out.sizes);
  return success();
}

/// (grad, self): written into a tensor of self's dtype, whatever both promote
/// to; PyTorch's shape function alone takes a self of integers.
static LogicalResult mishBackward(FakeCall &c) {
  if (failed(pointwise<Promote::Default>(c)))
    return failure();
  TensorMeta &out = c.results.front().meta;
  DType self = c.tensor(1).dtype;
  if (!isFloating(out.dtype))
    return checkTakes(c, out.dtype, Takes::Floating);
  if (isFloating(self))
    out.dtype = self;
  return success();
}

static LogicalResult rowMajorIfEmpty(FakeCall &c) {
  if (failed(pointwise<Promote::Default>(c)))
    return failure();
  TensorMeta &out = c.results.front().meta;
  if (is_contained(out.sizes, Dim(0)))
    out.strides = contiguousStrides(out.sizes);
  return success();
}

static std::vector<Group> groups() {
  using enum Promote;
  using enum Takes;
  std::vector<StringRef> plain = {"default"};
  std::vector<StringRef> binary = {"Tensor", "Scalar"};
  std::vector<StringRef> polynomial = {"default", "n_scalar", "x_scalar"};
  std::vector<StringRef> numbers = {"default", "other_scalar", "self_scalar"};
  return {
      // Functions of one tensor; integers become float32.
      {pointwise<IntToFloat>,
       plain,
       {"acos",    "acosh",   "arccos",  "arccosh", "arcsin",     "arcsinh",
        "arctan",  "arctanh", "asin",    "asinh",   "atan",       "atanh",
        "cos",     "cosh",    "digamma", "erf",     "erfc",       "erfinv",
        "exp",     "exp2",    "expm1",   "i0",      "lgamma",     "log",
        "log10",   "log1p",   "log2",    "logit",   "reciprocal", "rsqrt",
        "sigmoid", "sin",     "sinc",    "sinh",    "sqrt",       "tan",
        "tanh"}},
      {pointwise<IntToFloat, 0, NoComplex>,
       plain,
       {"deg2rad",
        "rad2deg",
        "special_airy_ai",
        "special_bessel_j0",
        "special_bessel_j1",
        "special_bessel_y0",
        "special_bessel_y1",
        "special_digamma",
        "special_entr",
        "special_erf",
        "special_erfc",
        "special_erfcx",
        "special_erfinv",
        "special_exp2",
        "special_gammaln",
        "special_i0",
        "special_i0e",
        "special_i1",
        "special_i1e",
        "special_log_ndtr",
        "special_logit",
        "special_modified_bessel_i0",
        "special_modified_bessel_i1",
        "special_modified_bessel_k0",
        "special_modified_bessel_k1",
        "special_ndtr",
        "special_ndtri",
        "special_psi",
        "special_scaled_modified_bessel_k0",
        "special_scaled_modified_bessel_k1",
        "special_spherical_bessel_j0"}},
      {pointwise<IntToFloat>,
       plain,
       {"special_expit", "special_expm1", "special_log1p", "special_sinc"}},

      // Functions of two; integers become float32.
      {pointwise<IntToFloat, kBoth, NoComplex>,
       plain,
       {"arctan2", "atan2", "igamma", "igammac", "special_gammainc",
        "special_gammaincc"}},
      {pointwise<IntToFloat, kBoth, NoComplex>,
       polynomial,
       {"special_chebyshev_polynomial_t", "special_chebyshev_polynomial_u",
        "special_chebyshev_polynomial_v", "special_chebyshev_polynomial_w",
        "special_hermite_polynomial_h", "special_hermite_polynomial_he",
        "special_laguerre_polynomial_l", "special_legendre_polynomial_p",
        "special_shifted_chebyshev_polynomial_t",
        "special_shifted_chebyshev_polynomial_u",
        "special_shifted_chebyshev_polynomial_v",
        "special_shifted_chebyshev_polynomial_w"}},
      {pointwise<IntToFloat, kBoth, NoComplex>,
       numbers,
       {"special_xlog1py", "special_zeta"}},
      {pointwise<IntToFloat, kBoth>, numbers, {"special_xlogy"}},
      {pointwise<IntToFloat, kBoth>,
       {"Tensor", "Scalar_Other", "Scalar_Self"},
       {"xlogy"}},
      {pointwise<IntToFloat, kBoth>, binary, {"div", "divide", "true_divide"}},
      {pointwise<IntToFloat, kBoth, NoComplex>, binary, {"copysign"}},

      // The dtype stays.
      {rowMajorIfEmpty, plain, {"hardsigmoid"}},
      {pointwise<Default>,
       plain,
       {"_conj_physical", "conj_physical", "hardswish", "mish", "selu", "sgn",
        "silu", "gelu"}},
      {pointwise<BoolToLong>, plain, {"square"}},
      {pointwise<Default, 0, NoComplex>,
       plain,
       {"ceil", "fix", "floor", "frac", "round", "sign", "special_round",
        "trunc"}},
      {ordered<0, NoBoolNoComplex>, plain, {"relu"}},
      {pointwise<Default, 0, NoBoolNoComplex>, plain, {"relu6"}},
      {pointwise<Default, 0, NoBool>, plain, {"neg", "negative"}},
      {pointwise<Default, 0, Integral>, plain, {"bitwise_not"}},
      {pointwise<Default, 0, NoComplex>, {"decimals"}, {"round"}},
      {numbersFit, plain, {"celu", "elu", "leaky_relu", "softplus"}},
      {pointwise<Default, 1>, plain, {"hardshrink", "nan_to_num", "threshold"}},
      {hardtanh, plain, {"hardtanh"}},
      {pointwise<Default, 1, Floating>, plain, {"softshrink"}},

      // Two operands of one promoted dtype.
      {scaledSum<Any>, binary, {"_add_relu", "add"}},
      {scaledSum<NoBool>, binary, {"rsub", "sub", "subtract"}},
      {pointwise<Default, kBoth>, binary, {"mul", "multiply"}},
      {pointwise<Default, kBoth, NoComplex>,
       {"Tensor", "Scalar", "Scalar_Tensor"},
       {"fmod", "remainder"}},
      {pointwise<Default, kBoth, NoBoolNoComplex>,
       {"default", "Scalar"},
       {"floor_divide"}},
      {pointwise<Default, kBoth>, plain, {"logaddexp"}},
      {pointwise<Default, kBoth, NoComplex>, plain, {"logaddexp2"}},
      {pointwise<Default, kBoth, NoComplex>,
       plain,
       {"fmax", "fmin", "hypot", "maximum", "minimum"}},
      {pointwise<Default, kBoth, Floating>, plain, {"nextafter"}},
      {pointwise<Default, kBoth, Integral>, plain, {"gcd", "lcm"}},
      {pointwise<Default, kBoth, Integral>,
       {"Tensor", "Scalar", "Scalar_Tensor"},
       {"__and__", "__or__", "__xor__", "bitwise_and", "bitwise_or",
        "bitwise_xor"}},
      {pointwise<Default, kBoth, Integral>,
       {"Tensor", "Tensor_Scalar", "Scalar_Tensor"},
       {"bitwise_left_shift", "bitwise_right_shift"}},
      {pointwise<Default, kBoth>, binary, {"__lshift__", "__rshift__"}},
      {pointwise<Default, kBoth>, {"Tensor_Tensor", "Tensor_Scalar"}, {"pow"}},
      {pointwise<Default>, plain, {"addcmul"}},
      {pointwise<Default, 0, FloatingOrComplex>, plain, {"addcdiv"}},

      // Predicates.
      {pointwise<AlwaysBool>,
       plain,
       {"isclose", "isfinite", "isinf", "isnan", "isreal", "logical_and",
        "logical_not", "logical_or", "logical_xor"}},
      {pointwise<AlwaysBool, 0, NoComplex>,
       plain,
       {"isneginf", "isposinf", "signbit"}},
      {pointwise<AlwaysBool, kBoth>, binary, {"eq", "ne", "not_equal"}},
      {pointwise<AlwaysBool, kBoth, NoComplex>,
       binary,
       {"ge", "greater", "greater_equal", "gt", "le", "less", "less_equal",
        "lt"}},

      // Derivatives: gradient and saved values together.
      {savedFirst<true>, plain, {"leaky_relu_backward"}},
      {savedFirst<false>,
       plain,
       {"elu_backward", "hardsigmoid_backward", "hardswish_backward",
        "hardtanh_backward", "logit_backward", "softplus_backward"}},
      {mishBackward, plain, {"mish_backward"}},
      {pointwise<Default>,
       plain,
       {"sigmoid_backward", "silu_backward", "softshrink_backward",
        "hardshrink_backward", "tanh_backward", "gelu_backward",
        "rrelu_with_noise_backward"}},
  };
}

/// Keeps the texts that the rows refer to.
static std::vector<FakeRuleRow> expand() {
  std::vector<FakeRuleRow> rows;
  static std::vector<std::unique_ptr<std::string>> texts;
  for (const Group &group : groups())
    for (StringRef name : group.names)
      for (StringRef overload : group.overloads) {
        texts.push_back(
            std::make_unique<std::string>((name + "." + overload).str()));
        DevicePolicy device =
            name == "nextafter" ? DevicePolicy::Strict : DevicePolicy::Common;
        rows.push_back({*texts.back(), group.rule, device});
      }
  return rows;
}

ArrayRef<FakeRuleRow> pointwiseRules() {
  static const std::vector<FakeRuleRow> rows = expand();
  return rows;
}

} // namespace ft
