//===- PointwiseArithmetic.cpp - Arithmetic, comparisons, selection -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Pointwise.h"

#include <cmath>
#include <numeric>

using namespace ft;
using namespace ft::interpreter;

using D = const double *;
using C = const Complex *;
using I = const int64_t *;

static int64_t overflowing(uint64_t value) {
  return static_cast<int64_t>(value);
}
static uint64_t u(int64_t value) { return static_cast<uint64_t>(value); }

/// What integer division by zero, and INT64_MIN by -1, give is left open.
static bool badDivision(I x, Call &call) {
  if (x[1] == 0)
    call.open("integer division by zero");
  else if (x[1] == -1 && x[0] == INT64_MIN)
    call.open("integer division overflows");
  else
    return false;
  return true;
}

static int64_t floorDivide(I x, Call &call) {
  if (badDivision(x, call))
    return 0;
  int64_t q = x[0] / x[1], r = x[0] % x[1];
  return r && (r < 0) != (x[1] < 0) ? q - 1 : q;
}
static int64_t remainder(I x, Call &call) {
  if (badDivision(x, call))
    return 0;
  int64_t r = x[0] % x[1];
  return r && (r < 0) != (x[1] < 0) ? r + x[1] : r;
}
static int64_t fmodInteger(I x, Call &call) {
  return badDivision(x, call) ? 0 : x[0] % x[1];
}

static double remainderReal(D x) {
  double r = std::fmod(x[0], x[1]);
  return r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
}

// As PyTorch writes it: the quotient of what the remainder leaves.
static double floorDivideReal(D x) {
  if (x[1] == 0)
    return x[0] / x[1];
  double mod = std::fmod(x[0], x[1]);
  double div = (x[0] - mod) / x[1];
  if (mod != 0 && (x[1] < 0) != (mod < 0))
    div -= 1;
  if (div == 0)
    return std::copysign(0, x[0] / x[1]);
  double floored = std::floor(div);
  return div - floored > 0.5 ? floored + 1 : floored;
}

/// There are no kernels that shift bools.
static bool shiftsBools(Call &call) {
  bool is = call.results[0].dtype == DType::Bool;
  if (is)
    call.open("a shift of bools");
  return is;
}

static int64_t shiftLeft(I x, Call &call) {
  if (shiftsBools(call))
    return 0;
  int64_t bits = dtypeBytes(call.results[0].dtype) * 8;
  return x[1] < 0 || x[1] >= bits ? 0 : overflowing(u(x[0]) << x[1]);
}
static int64_t shiftRight(I x, Call &call) {
  if (shiftsBools(call))
    return 0;
  int64_t bits = dtypeBytes(call.results[0].dtype) * 8;
  int64_t most = isUnsigned(call.results[0].dtype) ? bits : bits - 1;
  int64_t by = x[1] < 0 || x[1] >= bits ? most : x[1];
  return by > 63 ? 0 : x[0] >> by;
}

static int64_t powInteger(I x, Call &) {
  if (x[1] < 0)
    return x[0] == 1 ? 1 : x[0] == -1 ? (x[1] % 2 ? -1 : 1) : 0;
  uint64_t result = 1, base = u(x[0]);
  for (uint64_t e = u(x[1]); e; e >>= 1, base *= base)
    if (e & 1)
      result *= base;
  return overflowing(result);
}

// Exponents that PyTorch treats on their own.
static double powScalarExponent(D x) {
  if (x[1] == 0.5)
    return std::sqrt(x[0]);
  if (x[1] == -0.5)
    return 1 / std::sqrt(x[0]);
  return std::pow(x[0], x[1]);
}

// Exponents that PyTorch treats on their own.
static Complex powComplexScalarExponent(Complex a, Complex b) {
  if (b == 0.0)
    return 1;
  if (b == 2.0)
    return product(a, a);
  if (b == 3.0)
    return product(product(a, a), a);
  if (b == 0.5)
    return std::sqrt(a);
  if (b == -0.5)
    return quotient(1, std::sqrt(a));
  if (b == -1.0)
    return quotient(1, a);
  return b == -2.0 ? quotient(1, product(a, a)) : std::pow(a, b);
}

static double nanMax(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}
static double nanMin(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
}

// a + w (b - a), from the nearer end.
static double lerp(D x) {
  return std::abs(x[2]) < 0.5 ? x[0] + x[2] * (x[1] - x[0])
                              : x[1] - (x[1] - x[0]) * (1 - x[2]);
}
static Complex lerpComplex(C x) {
  return std::abs(x[2]) < 0.5 ? x[0] + product(x[2], x[1] - x[0])
                              : x[1] - product(x[1] - x[0], 1. - x[2]);
}

/// Of magnitudes in the dtype, where that of the smallest number is itself.
static int64_t gcdOf(I x, Call &call) {
  auto magnitude = [&](int64_t v) {
    return wrapTo(call.results[0].dtype, v < 0 ? overflowing(0 - u(v)) : v);
  };
  int64_t a = magnitude(x[0]), b = magnitude(x[1]);
  while (a) {
    int64_t c = a;
    a = a == -1 ? 0 : b % a;
    b = c;
  }
  return b;
}

static bool isNaN(Complex x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

static double signReal(D x) { return (x[0] > 0) - (x[0] < 0); }

#define FT_COMPARISON(names, op)                                               \
  {names,                                                                      \
   OpClass::Exact,                                                             \
   Promote::Operands,                                                          \
   2,                                                                          \
   [](D x) { return double(x[0] op x[1]); },                                   \
   nullptr,                                                                    \
   [](I x, Call &) { return int64_t(x[0] op x[1]); }}
#define FT_BITWISE(names, op)                                                  \
  {names,                                                                      \
   OpClass::Exact,                                                             \
   Promote::Operands,                                                          \
   2,                                                                          \
   nullptr,                                                                    \
   nullptr,                                                                    \
   [](I x, Call &) { return x[0] op x[1]; }}
#define FT_LOGICAL(names, expr)                                                \
  {names,                                                                      \
   OpClass::Exact,                                                             \
   Promote::Operands,                                                          \
   2,                                                                          \
   [](D x) {                                                                   \
     bool a = x[0] != 0, b = x[1] != 0;                                        \
     return double(expr);                                                      \
   },                                                                          \
   [](C x) {                                                                   \
     bool a = x[0] != 0., b = x[1] != 0.;                                      \
     return Complex(expr);                                                     \
   },                                                                          \
   [](I x, Call &) {                                                           \
     bool a = x[0] != 0, b = x[1] != 0;                                        \
     return int64_t(expr);                                                     \
   }}

llvm::ArrayRef<PointwiseRow> ft::interpreter::arithmeticRows() {
  using enum OpClass;
  using enum Promote;
  static const PointwiseRow rows[] = {
      {"add.Tensor add.Scalar", Exact, Operands, 2,
       [](D x) { return x[0] + x[2] * x[1]; },
       [](C x) { return x[0] + product(x[2], x[1]); },
       [](I x, Call &) { return overflowing(u(x[0]) + u(x[2]) * u(x[1])); }},
      {"sub.Tensor sub.Scalar subtract.Tensor subtract.Scalar", Exact, Operands,
       2, [](D x) { return x[0] - x[2] * x[1]; },
       [](C x) { return x[0] - product(x[2], x[1]); },
       [](I x, Call &) { return overflowing(u(x[0]) - u(x[2]) * u(x[1])); }},
      {"rsub.Tensor rsub.Scalar", Exact, Operands, 2,
       [](D x) { return x[1] - x[2] * x[0]; },
       [](C x) { return x[1] - product(x[2], x[0]); },
       [](I x, Call &) { return overflowing(u(x[1]) - u(x[2]) * u(x[0])); }},
      {"mul.Tensor mul.Scalar multiply.Tensor multiply.Scalar", Exact, Operands,
       2, [](D x) { return x[0] * x[1]; },
       [](C x) { return product(x[0], x[1]); },
       [](I x, Call &) { return overflowing(u(x[0]) * u(x[1])); }},
      {"div.Tensor div.Scalar divide.Tensor divide.Scalar true_divide.Tensor "
       "true_divide.Scalar",
       Exact, Float, 2, [](D x) { return x[0] / x[1]; },
       [](C x) { return quotient(x[0], x[1]); }},
      {"floor_divide floor_divide.Scalar", Elementary, Operands, 2,
       floorDivideReal, nullptr, floorDivide},
      {"remainder.Tensor remainder.Scalar remainder.Scalar_Tensor", Elementary,
       Operands, 2, remainderReal, nullptr, remainder},
      {"fmod.Tensor fmod.Scalar", Exact, Operands, 2,
       [](D x) { return std::fmod(x[0], x[1]); }, nullptr, fmodInteger},
      {"pow.Tensor_Tensor pow.Scalar", Elementary, Operands, 2,
       [](D x) { return std::pow(x[0], x[1]); },
       [](C x) { return std::pow(x[0], x[1]); }, powInteger},
      {"pow.Tensor_Scalar", Elementary, Operands, 2, powScalarExponent,
       [](C x) { return powComplexScalarExponent(x[0], x[1]); }, powInteger},
      {"float_power.Tensor_Tensor float_power.Scalar", Elementary, Double, 2,
       [](D x) { return std::pow(x[0], x[1]); },
       [](C x) { return std::pow(x[0], x[1]); }},
      {"float_power.Tensor_Scalar", Elementary, Double, 2, powScalarExponent,
       [](C x) { return powComplexScalarExponent(x[0], x[1]); }},
      FT_COMPARISON("lt.Tensor lt.Scalar less.Tensor less.Scalar", <),
      FT_COMPARISON("le.Tensor le.Scalar less_equal.Tensor less_equal.Scalar",
                    <=),
      FT_COMPARISON("gt.Tensor gt.Scalar greater.Tensor greater.Scalar", >),
      FT_COMPARISON(
          "ge.Tensor ge.Scalar greater_equal.Tensor greater_equal.Scalar", >=),
      {"eq.Tensor eq.Scalar", Exact, Operands, 2,
       [](D x) { return double(x[0] == x[1]); },
       [](C x) { return Complex(x[0] == x[1]); },
       [](I x, Call &) { return int64_t(x[0] == x[1]); }},
      {"ne.Tensor ne.Scalar not_equal.Tensor not_equal.Scalar", Exact, Operands,
       2, [](D x) { return double(x[0] != x[1]); },
       [](C x) { return Complex(x[0] != x[1]); },
       [](I x, Call &) { return int64_t(x[0] != x[1]); }},
      FT_BITWISE("bitwise_and.Tensor bitwise_and.Scalar "
                 "bitwise_and.Scalar_Tensor __and__.Tensor __and__.Scalar",
                     &),
      FT_BITWISE("bitwise_or.Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor "
                 "__or__.Tensor __or__.Scalar",
                 |),
      FT_BITWISE("bitwise_xor.Tensor bitwise_xor.Scalar "
                 "bitwise_xor.Scalar_Tensor __xor__.Tensor __xor__.Scalar",
                 ^),
      {"bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar "
       "bitwise_left_shift.Scalar_Tensor __lshift__.Tensor __lshift__.Scalar",
       Exact, Operands, 2, nullptr, nullptr, shiftLeft},
      {"bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar "
       "bitwise_right_shift.Scalar_Tensor __rshift__.Tensor __rshift__.Scalar",
       Exact, Operands, 2, nullptr, nullptr, shiftRight},
      {"bitwise_not", Exact, Operands, 1, nullptr, nullptr,
       [](I x, Call &call) {
         return call.results[0].dtype == DType::Bool ? int64_t(!x[0]) : ~x[0];
       }},
      FT_LOGICAL("logical_and", a && b),
      FT_LOGICAL("logical_or", a || b),
      FT_LOGICAL("logical_xor", a != b),
      {"logical_not", Exact, Operands, 1, [](D x) { return double(x[0] == 0); },
       [](C x) { return Complex(x[0] == 0.); },
       [](I x, Call &) { return int64_t(x[0] == 0); }},
      {"maximum max.other", Exact, Operands, 2,
       [](D x) { return nanMax(x[0], x[1]); }, nullptr,
       [](I x, Call &) { return std::max(x[0], x[1]); }},
      {"minimum min.other", Exact, Operands, 2,
       [](D x) { return nanMin(x[0], x[1]); }, nullptr,
       [](I x, Call &) { return std::min(x[0], x[1]); }},
      {"fmax", Exact, Operands, 2, [](D x) { return std::fmax(x[0], x[1]); },
       nullptr, [](I x, Call &) { return std::max(x[0], x[1]); }},
      {"fmin", Exact, Operands, 2, [](D x) { return std::fmin(x[0], x[1]); },
       nullptr, [](I x, Call &) { return std::min(x[0], x[1]); }},
      {"clamp_min clamp_min.Tensor", Exact, Operands, 2,
       [](D x) { return nanMax(x[0], x[1]); }, nullptr,
       [](I x, Call &) { return std::max(x[0], x[1]); }},
      {"clamp_max clamp_max.Tensor", Exact, Operands, 2,
       [](D x) { return nanMin(x[0], x[1]); }, nullptr,
       [](I x, Call &) { return std::min(x[0], x[1]); }},
      {"abs absolute", Exact, Operands, 1, [](D x) { return std::abs(x[0]); },
       [](C x) { return Complex(std::abs(x[0])); },
       [](I x, Call &) { return x[0] < 0 ? overflowing(0 - u(x[0])) : x[0]; }},
      {"neg negative", Exact, Operands, 1, [](D x) { return -x[0]; },
       [](C x) { return -x[0]; },
       [](I x, Call &) { return overflowing(0 - u(x[0])); }},
      {"positive", Exact, Operands, 1, [](D x) { return x[0]; },
       [](C x) { return x[0]; }, [](I x, Call &) { return x[0]; }},
      {"sign", Exact, Operands, 1,
       [](D x) { return std::isnan(x[0]) ? 0. : signReal(x); }, nullptr,
       [](I x, Call &) { return int64_t((x[0] > 0) - (x[0] < 0)); }},
      {"sgn", Exact, Operands, 1,
       [](D x) { return std::isnan(x[0]) ? 0. : signReal(x); },
       [](C x) { return x[0] == 0. ? x[0] : x[0] / std::abs(x[0]); },
       [](I x, Call &) { return int64_t((x[0] > 0) - (x[0] < 0)); }},
      {"signbit", Exact, Operands, 1,
       [](D x) { return double(std::signbit(x[0])); }, nullptr,
       [](I x, Call &) { return int64_t(x[0] < 0); }},
      {"copysign.Tensor copysign.Scalar", Exact, Float, 2,
       [](D x) { return std::copysign(x[0], x[1]); }},
      {"conj_physical _conj_physical", Exact, Operands, 1,
       [](D x) { return x[0]; }, [](C x) { return std::conj(x[0]); },
       [](I x, Call &) { return x[0]; }},
      {"square", Exact, Operands, 1, [](D x) { return x[0] * x[0]; },
       [](C x) { return product(x[0], x[0]); },
       [](I x, Call &) { return overflowing(u(x[0]) * u(x[0])); }},
      {"reciprocal", Exact, Float, 1, [](D x) { return 1 / x[0]; },
       [](C x) { return quotient(1, x[0]); }},
      {"sqrt", Exact, Float, 1, [](D x) { return std::sqrt(x[0]); },
       [](C x) { return std::sqrt(x[0]); }},
      {"rsqrt", Elementary, Float, 1, [](D x) { return 1 / std::sqrt(x[0]); },
       [](C x) { return quotient(1, std::sqrt(x[0])); }},
      {"ceil", Exact, Operands, 1, [](D x) { return std::ceil(x[0]); }, nullptr,
       [](I x, Call &) { return x[0]; }},
      {"floor", Exact, Operands, 1, [](D x) { return std::floor(x[0]); },
       nullptr, [](I x, Call &) { return x[0]; }},
      {"trunc fix", Exact, Operands, 1, [](D x) { return std::trunc(x[0]); },
       nullptr, [](I x, Call &) { return x[0]; }},
      {"round", Exact, Operands, 1, [](D x) { return std::nearbyint(x[0]); },
       nullptr, [](I x, Call &) { return x[0]; }},
      {"frac", Exact, Operands, 1, [](D x) { return x[0] - std::trunc(x[0]); }},
      {"isnan", Exact, Operands, 1,
       [](D x) { return double(std::isnan(x[0])); },
       [](C x) {
         return Complex(std::isnan(x[0].real()) || std::isnan(x[0].imag()));
       },
       [](I, Call &) { return int64_t(0); }},
      {"isinf", Exact, Operands, 1,
       [](D x) { return double(std::isinf(x[0])); },
       [](C x) {
         return Complex(std::isinf(x[0].real()) || std::isinf(x[0].imag()));
       },
       [](I, Call &) { return int64_t(0); }},
      {"isfinite", Exact, Operands, 1,
       [](D x) { return double(std::isfinite(x[0])); },
       [](C x) {
         return Complex(std::isfinite(x[0].real()) &&
                        std::isfinite(x[0].imag()));
       },
       [](I, Call &) { return int64_t(1); }},
      {"isposinf", Exact, Operands, 1,
       [](D x) { return double(x[0] == HUGE_VAL); }, nullptr,
       [](I, Call &) { return int64_t(0); }},
      {"isneginf", Exact, Operands, 1,
       [](D x) { return double(x[0] == -HUGE_VAL); }, nullptr,
       [](I, Call &) { return int64_t(0); }},
      {"isreal", Exact, Operands, 1, [](D) { return 1.; },
       [](C x) { return Complex(x[0].imag() == 0); },
       [](I, Call &) { return int64_t(1); }},
      {"where.self where.ScalarSelf where.ScalarOther where.Scalar", Exact,
       Mask, 2, [](D x) { return x[0] != 0 ? x[1] : x[2]; },
       [](C x) { return x[0] != 0. ? x[1] : x[2]; },
       [](I x, Call &) { return x[0] ? x[1] : x[2]; }},
      {"masked_fill.Scalar masked_fill.Tensor", Exact, Result, 3,
       [](D x) { return x[1] != 0 ? x[2] : x[0]; },
       [](C x) { return x[1] != 0. ? x[2] : x[0]; },
       [](I x, Call &) { return x[1] ? x[2] : x[0]; }},
      {"lerp.Scalar lerp.Tensor", Accumulated, Operands, 2, lerp, lerpComplex},
      {"addcmul", Accumulated, Operands, 3,
       [](D x) { return x[0] + x[3] * x[1] * x[2]; },
       [](C x) { return x[0] + product(product(x[3], x[1]), x[2]); },
       [](I x, Call &) {
         return overflowing(u(x[0]) + u(x[3]) * u(x[1]) * u(x[2]));
       }},
      {"addcdiv", Accumulated, Operands, 3,
       [](D x) { return x[0] + x[3] * (x[1] / x[2]); },
       [](C x) { return x[0] + quotient(product(x[3], x[1]), x[2]); }},
      {"gcd", Exact, Operands, 2, nullptr, nullptr, gcdOf},
      {"lcm", Exact, Operands, 2, nullptr, nullptr,
       [](I x, Call &call) {
         DType dtype = call.results[0].dtype;
         int64_t g = gcdOf(x, call);
         if (g == 0)
           return int64_t(0);
         if (g == -1)
           call.open("the smallest integer by -1");
         int64_t product = g == -1 ? 0 : overflowing(u(x[0] / g) * u(x[1]));
         if (dtypeBytes(dtype) >= 4) // less is multiplied as int32
           product = wrapTo(dtype, product);
         return product < 0 ? overflowing(0 - u(product)) : product;
       }},
      {"heaviside", Exact, Operands, 2,
       [](D x) { return x[0] == 0 ? x[1] : double(x[0] > 0); }, nullptr,
       [](I x, Call &) { return x[0] == 0 ? x[1] : int64_t(x[0] > 0); }},
      {"isclose", Exact, Operands, 2,
       [](D x) {
         if (x[4] != 0 && std::isnan(x[0]) && std::isnan(x[1]))
           return 1.;
         if (x[0] == x[1])
           return 1.;
         return double(std::isfinite(x[1]) &&
                       std::abs(x[0] - x[1]) <= x[3] + std::abs(x[2] * x[1]));
       },
       [](C x) {
         bool nan = isNaN(x[0]) && isNaN(x[1]);
         double error = std::abs(x[0] - x[1]);
         double allowed = x[3].real() + std::abs(x[2].real()) * std::abs(x[1]);
         return Complex((x[4] != 0. && nan) || x[0] == x[1] ||
                        (std::isfinite(error) && error <= allowed));
       },
       [](I x, Call &call) {
         // As float32, whatever the integers are.
         auto single = [](double v) { return roundTo(DType::F32, v); };
         double a = single(double(x[0])), b = single(double(x[1]));
         double allowed =
             single(call.number(3) + single(std::abs(call.number(2) * b)));
         return int64_t(x[0] == x[1] || single(std::abs(a - b)) <= allowed);
       }},
  };
  return rows;
}
