//===- PointwiseOwn.cpp - Pointwise ops that fit no table -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Pointwise.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

/// Runs one function over all elements of the first result: `get(i, index)` is
/// argument `i`, converted to `dtype`, at the index.
template <typename Function>
static void eachReal(Call &call, DType dtype, Function function) {
  std::vector<Tensor> converted;
  for (const Tensor &operand : call.operands)
    converted.push_back(operand.to(dtype));
  Tensor &out = call.out();
  forEachIndex(out.shape, [&](Index index, int64_t flat) {
    auto get = [&](unsigned i) {
      const Tensor &tensor = converted[call.args[i].operand];
      return tensor.real(flattenBroadcast(tensor.shape, index));
    };
    out.setReal(flat, function(get));
  });
}

static void divMode(Call &call) {
  llvm::StringRef mode = call.args[2].isNone() ? "" : call.text(2);
  if (mode.empty())
    return evaluatePointwise(
        call, {"", OpClass::Exact, Promote::Float, 2,
               [](const double *x) { return x[0] / x[1]; },
               [](const Complex *x) { return quotient(x[0], x[1]); }});
  const PointwiseRow *floorRow = nullptr;
  for (const PointwiseRow &row : arithmeticRows())
    if (row.names.starts_with("floor_divide"))
      floorRow = &row;
  if (mode == "floor")
    return evaluatePointwise(call, *floorRow);
  // The quotient is rounded before it is cut.
  bool wide = computeType(call, Promote::Operands, 2) == DType::F64;
  PointwiseRow row = *floorRow;
  row.integer = [](const int64_t *x, Call &call) -> int64_t {
    if (x[1] == 0 || (x[1] == -1 && x[0] == INT64_MIN)) {
      call.open("integer division by zero");
      return 0;
    }
    return x[0] / x[1];
  };
  row.real = wide ? [](const double *x) { return std::trunc(x[0] / x[1]); }
                  : [](const double *x) {
                      return std::trunc(roundTo(DType::F32, x[0] / x[1]));
                    };
  evaluatePointwise(call, row);
}

// PyTorch's vector kernel for float32 gives inf from 2^127 up, NaN at inf.
static void gelu(Call &call) {
  bool tanh = call.text(1) == "tanh";
  evaluatePointwise(call, {"", OpClass::Elementary, Promote::Operands, 1,
                           tanh ? [](const double *x) {
    double inner = std::sqrt(2 / M_PI) *
                   (x[0] + 0.044715 * x[0] * x[0] * x[0]);
    return 0.5 * x[0] * (1 + std::tanh(inner));
  } : [](const double *x) {
    if (x[0] == HUGE_VAL && std::isinf(step(0x1p200)))
      return std::nan("");
    return 0.5 * x[0] * step(1 + step(std::erf(x[0] * M_SQRT1_2)));
  }});
}

// 1 + erf and 1 + tanh lose the digits of small values, as in PyTorch.
static void geluBackward(Call &call) {
  bool tanh = call.text(2) == "tanh";
  // Where the density is subnormal PyTorch's vector kernel takes it for 0.
  const Tensor &x = call.tensor(1);
  for (int64_t i = 0, n = x.numel(); i < n; ++i)
    if (std::abs(x.real(i)) > 12.9 && std::abs(x.real(i)) < 14.6)
      call.open("a subnormal density");
  evaluatePointwise(call, {"", OpClass::Elementary, Promote::Operands, 2,
                           tanh ? [](const double *x) {
    double beta = std::sqrt(2 / M_PI), z = x[1];
    double t = std::tanh(step(beta * (z + 0.044715 * z * z * z)));
    double inner = step(beta * (1 + 3 * 0.044715 * z * z));
    double high = step(1 + step(t)), slope = step(1 - step(t) * step(t));
    return x[0] * (0.5 * high + 0.5 * z * slope * inner);
  } : [](const double *x) {
    double z = x[1];
    double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
    if (density < 0x1p-126 && std::isinf(step(0x1p200)))
      density = 0; // below the normal numbers of float32
    double twice = step(1 + step(std::erf(z * M_SQRT1_2)));
    return x[0] * (0.5 * twice + z * density);
  }});
}

// Absent bounds do not bound.
static void clamp(Call &call) {
  DType dtype = call.out().dtype;
  auto bound = [&](unsigned i) -> std::optional<Tensor> {
    if (const Tensor *tensor = call.optTensor(i))
      return tensor->to(dtype);
    if (!call.has(i))
      return std::nullopt;
    Tensor number(dtype, {});
    if (call.args[i].kind == Arg::Float)
      number.setReal(0, call.number(i));
    else
      number.setInteger(0, call.integer(i));
    call.out().undefined |= number.undefined;
    return number;
  };
  Tensor self = call.tensor(0).to(dtype);
  std::optional<Tensor> low = bound(1), high = bound(2);
  Tensor &out = call.out();
  forEachIndex(out.shape, [&](Index index, int64_t flat) {
    Tensor value(dtype, {});
    value.set(0, self, flattenBroadcast(self.shape, index));
    for (const std::optional<Tensor> *limit : {&low, &high}) {
      if (!*limit)
        continue;
      const Tensor &tensor = **limit;
      int64_t at = flattenBroadcast(tensor.shape, index);
      bool lower = limit == &low;
      if (value.whole()) {
        int64_t a = value.integer(0), b = tensor.integer(at);
        value.setInteger(0, lower ? std::max(a, b) : std::min(a, b));
      } else {
        double a = value.real(0), b = tensor.real(at);
        if (std::isnan(a) || std::isnan(b))
          value.setReal(0, std::nan(""));
        else
          value.setReal(0, lower ? std::max(a, b) : std::min(a, b));
      }
    }
    out.set(flat, value, 0);
  });
}

static void nanToNum(Call &call) {
  Tensor &out = call.out();
  const Tensor &self = call.tensor(0);
  if (self.whole()) {
    out = self;
    return;
  }
  DType real = toReal(self.dtype);
  // The largest number of the type.
  double most = real == DType::F16    ? 65504.
                : real == DType::BF16 ? 0x1.FEp127
                : real == DType::F32  ? 0x1.FFFFFEp127
                                      : 0x1.FFFFFFFFFFFFFp1023;
  double nan = call.has(1) ? call.number(1) : 0;
  double positive = call.has(2) ? call.number(2) : most;
  double negative = call.has(3) ? call.number(3) : -most;
  auto replace = [&](double x) {
    return std::isnan(x)    ? nan
           : x == HUGE_VAL  ? positive
           : x == -HUGE_VAL ? negative
                            : x;
  };
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    out.setComplex(
        i, {replace(self.complex(i).real()), replace(self.complex(i).imag())});
}

// 10^d x rounded to even, over 10^d, in the precision of the type.
static void roundDecimals(Call &call) {
  int64_t decimals = call.integer(1);
  DType dtype = call.tensor(0).dtype;
  if (isIntegral(dtype)) {
    call.out() = call.tensor(0);
    return;
  }
  DType wide = dtype == DType::F64 ? DType::F64 : DType::F32;
  double ten = roundTo(wide, std::pow(10., std::abs(double(decimals))));
  eachReal(call, dtype, [&](auto get) {
    double x = get(0);
    if (decimals < 0)
      return std::nearbyint(roundTo(wide, x / ten)) * ten;
    return std::nearbyint(roundTo(wide, x * ten)) / ten;
  });
}

static void logSigmoidForward(Call &call) {
  const Tensor &self = call.tensor(0);
  if (self.whole())
    call.open("no such function of integers");
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    double x = self.real(i), z = std::exp(-std::abs(x));
    call.out().setReal(i, std::min(x, 0.) - std::log1p(z));
    if (call.results.size() > 1 && call.out(1).numel() == n)
      call.out(1).setReal(i, z);
  }
}

static void preluChannels(Call &call) {
  const Tensor &self = call.tensor(0), &weight = call.tensor(1);
  forEachIndex(self.shape, [&](Index index, int64_t i) {
    int64_t channel = weight.numel() == 1 ? 0 : index[self.rank() > 1];
    double x = self.real(i);
    call.out().setReal(i, x > 0 ? x : x * weight.real(channel));
  });
}

static void preluKernelBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &self = call.tensor(1),
               &weight = call.tensor(2);
  if (grad.dtype != self.dtype || self.dtype != weight.dtype || self.whole())
    return call.open("operands of several dtypes");
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    double g = grad.real(flattenBroadcast(grad.shape, index));
    double x = self.real(flattenBroadcast(self.shape, index));
    double w = weight.real(flattenBroadcast(weight.shape, index));
    call.out(0).setReal(i, x > 0 ? g : w * g);
    call.out(1).setReal(i, x > 0 ? 0 : x * g);
  });
}

static void complexParts(Call &call) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  bool polar = call.base() == "polar";
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    double x = a.real(flattenBroadcast(a.shape, index));
    double y = b.real(flattenBroadcast(b.shape, index));
    call.out().setComplex(i, polar ? Complex(x * std::cos(y), x * std::sin(y))
                                   : Complex(x, y));
  });
}

static void frexpParts(Call &call) {
  const Tensor &self = call.tensor(0);
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    int exponent = 0;
    double x = self.real(i);
    call.out(0).setReal(i, std::frexp(x, &exponent));
    call.out(1).setInteger(i, std::isfinite(x) ? exponent : 0);
  }
}

// The two halves along a dim: the first, gated by the second.
static void glu(Call &call) {
  const Tensor &self = call.tensor(0);
  int64_t dim = call.dim(1, self.rank());
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end());
    double a = self.real(flatten(self.shape, at));
    at[dim] += call.out().shape[dim];
    double b = self.real(flatten(self.shape, at));
    call.out().setReal(i, a / (1 + std::exp(-b)));
  });
}

/// Whether 1 - gate is 0 as float32 may round it, where infinity times it is
/// NaN, or infinite.
static bool saturated(double gate) { return gate < 1 && gate > 1 - 1e-6; }

static void gluBackward(Call &call) {
  const Tensor &grad = call.tensor(0), &self = call.tensor(1);
  if (self.whole())
    call.open("no such function of integers");
  if (!self.rank() || grad.rank() != self.rank())
    return call.refuse("a gradient of another rank");
  int64_t dim = call.dim(2, self.rank());
  Shape half = self.shape;
  half[dim] /= 2;
  forEachIndex(half, [&](Index index, int64_t) {
    Shape at(index.begin(), index.end());
    // The gradient broadcasts to a half.
    double g = grad.real(flattenBroadcast(grad.shape, index));
    int64_t first = flatten(self.shape, at);
    at[dim] += half[dim];
    int64_t second = flatten(self.shape, at);
    double s = 1 / (1 + std::exp(-self.real(second)));
    if (saturated(s) && std::isinf(g * self.real(first)))
      call.open("a saturated gate of infinity");
    call.out().setReal(first, g * s);
    call.out().setReal(second, g * self.real(first) * s * (1 - s));
  });
}

/// The next number of the dtype towards the other operand.
static void nextafter(Call &call) {
  DType dtype = call.out().dtype;
  eachReal(call, dtype, [&](auto get) -> double {
    double from = get(0), to = get(1);
    if (dtype == DType::F64)
      return std::nextafter(from, to);
    if (dtype == DType::F32)
      return std::nextafterf(static_cast<float>(from), static_cast<float>(to));
    if (std::isnan(from) || std::isnan(to))
      return std::nan("");
    if (from == to)
      return to;
    // Half a step or more away: the neighbour is what that rounds to.
    double tiny = dtype == DType::BF16 ? 0x1p-133 : 0x1p-24;
    if (from == 0)
      return std::copysign(tiny, to);
    if (std::isinf(from))
      return std::copysign(dtype == DType::BF16 ? 0x1.FEp127 : 65504, from);
    double unit = std::exp2(std::floor(std::log2(std::abs(from))) -
                            (dtype == DType::BF16 ? 7 : 10));
    double least = std::max(unit / 2, tiny);
    double next = roundTo(dtype, from + (to > from ? least : -least));
    if (next != from)
      return next;
    return roundTo(dtype, from + (to > from ? 1 : -1) * std::max(unit, tiny));
  });
}

/// max(0, self + alpha other), where the sum wraps.
static void addRelu(Call &call) {
  const Tensor &self = call.tensor(0);
  const Tensor *other = call.optTensor(1);
  Tensor &out = call.out();
  if (out.dtype == DType::Bool || out.dtype == DType::U8)
    return call.open("no such function of bools and bytes");
  forEachIndex(out.shape, [&](Index index, int64_t i) {
    int64_t a = flattenBroadcast(self.shape, index),
            b = other ? flattenBroadcast(other->shape, index) : 0;
    if (out.whole()) {
      int64_t y = other ? other->integer(b) : call.integer(1);
      int64_t sum = wrapTo(out.dtype, self.integer(a) + call.integer(2) * y);
      return out.setInteger(i, std::max<int64_t>(sum, 0));
    }
    double y = other ? other->real(b) : call.number(1);
    double sum = self.real(a) + call.number(2) * y;
    if (std::isnan(sum))
      call.open("the positive part of NaN");
    out.setReal(i, sum < 0 ? 0 : sum);
  });
}

/// (glu, x, dx, dim): with x = (a, b), σ(b) da + glu (1 - σ(b)) db.
static void gluJvp(Call &call) {
  const Tensor &glu = call.tensor(0), &x = call.tensor(1), &dx = call.tensor(2);
  int64_t dim = call.dim(3, x.rank()), half = x.shape[dim] / 2;
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end());
    int64_t first = flatten(x.shape, at);
    at[dim] += half;
    int64_t second = flatten(x.shape, at);
    double gate = 1 / (1 + std::exp(-x.real(second)));
    if (saturated(gate) && std::isinf(glu.real(i)))
      call.open("a saturated gate of infinity");
    double moved = dx.real(second) - gate * dx.real(second);
    call.out().setReal(i, gate * dx.real(first) + glu.real(i) * moved);
  });
}

/// (grad, self): grad (Φ(x) + x φ(x)).
static void plainGeluBackward(Call &call) {
  eachReal(call, call.out().dtype, [](auto get) {
    double x = get(1);
    return get(0) * (0.5 * (1 + std::erf(x * M_SQRT1_2)) +
                     x * std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI));
  });
}

/// The regularized incomplete gamma functions by Legendre's series and, above
/// the bulk, by a continued fraction (Lentz).
static double gammaPart(double a, double x, bool upper) {
  auto of = [&](double lower) { return upper ? 1 - lower : lower; };
  if (std::isnan(a) || std::isnan(x) || x < 0 || a < 0)
    return std::nan("");
  if (a == 0)
    return x > 0 ? of(1) : std::nan("");
  if (x == 0)
    return of(0);
  if (a > 1e15 && x == a) // half, where the sums below lose all digits
    return 0.5;
  if (std::isinf(a))
    return std::isinf(x) ? std::nan("") : of(0);
  if (std::isinf(x))
    return of(1);
  double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 5000 && term > sum * 1e-18; ++n)
      sum += term *= x / (a + n);
    return of(front * sum);
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int n = 1; n < 5000; ++n) {
    double an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-16)
      break;
  }
  return upper ? front * h : 1 - front * h;
}

static void incompleteGamma(Call &call) {
  bool upper = call.base().ends_with("c");
  if (call.base().starts_with("special"))
    upper = call.base() == "special_gammaincc";
  eachReal(call, call.out().dtype,
           [&](auto get) { return gammaPart(get(0), get(1), upper); });
}

llvm::ArrayRef<OpRow> ft::interpreter::ownPointwiseRows() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"div.Tensor_mode", divMode, Elementary},
      {"div.Scalar_mode", divMode, Elementary},
      {"divide.Tensor_mode", divMode, Elementary},
      {"divide.Scalar_mode", divMode, Elementary},
      {"gelu.default", gelu, Elementary},
      {"gelu_backward.default", geluBackward, Accumulated},
      {"clamp.default", clamp, Exact},
      {"clamp.Tensor", clamp, Exact},
      {"clip.default", clamp, Exact},
      {"clip.Tensor", clamp, Exact},
      {"nan_to_num.default", nanToNum, Exact},
      {"round.decimals", roundDecimals, Elementary},
      {"special_round.default", roundDecimals, Elementary},
      {"log_sigmoid_forward.default", logSigmoidForward, Elementary},
      {"prelu.default", preluChannels, Elementary},
      {"_prelu_kernel_backward.default", preluKernelBackward, Elementary},
      {"complex.default", complexParts, Exact},
      {"polar.default", complexParts, Elementary},
      {"frexp.Tensor", frexpParts, Exact},
      {"glu.default", glu, Elementary},
      {"glu_backward.default", gluBackward, Elementary},
      {"nextafter.default", nextafter, Exact},
      {"_add_relu.Tensor", addRelu, Elementary},
      {"_add_relu.Scalar", addRelu, Elementary},
      {"glu_jvp.default", gluJvp, Accumulated},
      {"infinitely_differentiable_gelu_backward.default", plainGeluBackward,
       Accumulated},
      {"igamma.default", incompleteGamma, Accumulated},
      {"igammac.default", incompleteGamma, Accumulated},
      {"special_gammainc.default", incompleteGamma, Accumulated},
      {"special_gammaincc.default", incompleteGamma, Accumulated},
  };
  return rows;
}
