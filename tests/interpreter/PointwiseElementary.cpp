//===- PointwiseElementary.cpp - Elementary functions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Pointwise.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

using D = const double *;
using C = const Complex *;

static constexpr double kPi = 3.14159265358979323846;
static const double kLog2 = std::log(2.);

#define FT_BOTH(names, function)                                               \
  {names,                                                                      \
   OpClass::Elementary,                                                        \
   Promote::Float,                                                             \
   1,                                                                          \
   [](D x) { return std::function(x[0]); },                                    \
   [](C x) { return std::function(x[0]); }}

static double sinc(D x) {
  double scaled = step(step(kPi) * x[0]);
  return x[0] == 0 ? 1 : std::sin(scaled) / scaled;
}

static double logaddexp(D x) {
  if (std::isinf(x[0]) && x[0] == x[1])
    return x[0];
  return std::max(x[0], x[1]) + std::log1p(std::exp(-std::abs(x[0] - x[1])));
}

static double logaddexp2(D x) {
  if (std::isinf(x[0]) && x[0] == x[1])
    return x[0];
  return std::max(x[0], x[1]) +
         std::log1p(std::exp2(-std::abs(x[0] - x[1]))) / kLog2;
}

static double xlogy(D x) {
  if (std::isnan(x[1]))
    return x[1];
  return x[0] == 0 ? 0 : x[0] * std::log(x[1]);
}

static double xlog1py(D x) {
  if (std::isnan(x[1]))
    return x[1];
  return x[0] == 0 ? 0 : x[0] * std::log1p(x[1]);
}

static double angle(D x) {
  return std::isnan(x[0]) ? x[0] : x[0] < 0 ? kPi : 0;
}

llvm::ArrayRef<PointwiseRow> ft::interpreter::elementaryRows() {
  using enum OpClass;
  using enum Promote;
  static const PointwiseRow rows[] = {
      FT_BOTH("acos arccos", acos),
      FT_BOTH("acosh arccosh", acosh),
      FT_BOTH("asin arcsin", asin),
      FT_BOTH("asinh arcsinh", asinh),
      FT_BOTH("atan arctan", atan),
      FT_BOTH("atanh arctanh", atanh),
      FT_BOTH("cos", cos),
      FT_BOTH("cosh", cosh),
      FT_BOTH("exp", exp),
      FT_BOTH("log", log),
      FT_BOTH("log10", log10),
      FT_BOTH("sin", sin),
      FT_BOTH("sinh", sinh),
      FT_BOTH("tan", tan),
      FT_BOTH("tanh", tanh),
      {"exp2 special_exp2", Elementary, Float, 1,
       [](D x) { return std::exp2(x[0]); },
       [](C x) { return std::exp(x[0] * kLog2); }},
      {"expm1 special_expm1", Elementary, Float, 1,
       [](D x) { return std::expm1(x[0]); },
       [](C x) {
         double a = x[0].real(), b = x[0].imag(), s = std::sin(b / 2);
         return Complex(std::expm1(a) * std::cos(b) - 2 * s * s,
                        std::exp(a) * std::sin(b));
       }},
      {"log1p special_log1p", Elementary, Float, 1,
       [](D x) { return std::log1p(x[0]); },
       [](C x) { return std::log(1. + x[0]); }},
      {"log2", Elementary, Float, 1, [](D x) { return std::log2(x[0]); },
       [](C x) { return std::log(x[0]) / kLog2; }},
      {"erf special_erf", Elementary, Float, 1,
       [](D x) { return std::erf(x[0]); }},
      {"erfc special_erfc", Elementary, Float, 1,
       [](D x) { return std::erfc(x[0]); }},
      {"sinc special_sinc", Elementary, Float, 1, sinc,
       [](C x) {
         if (x[0] == 0.)
           return Complex(1);
         double pi = step(kPi);
         Complex z(step(pi * x[0].real()), step(pi * x[0].imag()));
         return quotient(std::sin(z), z);
       }},
      {"atan2 arctan2", Elementary, Float, 2,
       [](D x) { return std::atan2(x[0], x[1]); }},
      {"hypot", Elementary, Operands, 2,
       [](D x) { return std::hypot(x[0], x[1]); }},
      {"logaddexp", Accumulated, Operands, 2, logaddexp},
      {"logaddexp2", Accumulated, Operands, 2, logaddexp2},
      {"xlogy.Tensor xlogy.Scalar_Self xlogy.Scalar_Other special_xlogy "
       "special_xlogy.self_scalar special_xlogy.other_scalar",
       Elementary, Float, 2, xlogy},
      {"special_xlog1py special_xlog1py.self_scalar "
       "special_xlog1py.other_scalar",
       Elementary, Float, 2, xlog1py},
      {"angle", Elementary, Float, 1, angle,
       [](C x) { return Complex(std::arg(x[0])); }},
      {"deg2rad", Elementary, Float, 1, [](D x) { return x[0] * (kPi / 180); }},
      {"rad2deg", Elementary, Float, 1, [](D x) { return x[0] * (180 / kPi); }},
      {"ldexp.Tensor", Elementary, Float, 2,
       [](D x) { return x[0] * step(std::exp2(x[1])); },
       [](C x) { return product(x[0], std::pow(Complex(2), x[1])); }},
  };
  return rows;
}
