//===- PointwiseSpecial.cpp - Special functions of each element -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Pointwise.h"
#include "tests/interpreter/Special.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

using D = const double *;

#define FT_POLYNOMIAL(name, which)                                             \
  {name " " name ".n_scalar " name ".x_scalar", OpClass::Accumulated,          \
   Promote::Float, 2,                                                          \
   [](D x) { return polynomial(Polynomial::which, x[0], x[1]); }},

#define FT_SHIFTED(name, which)                                                \
  {name " " name ".n_scalar " name ".x_scalar", OpClass::Accumulated,          \
   Promote::Float, 2,                                                          \
   [](D x) { return polynomial(Polynomial::which, 2 * x[0] - 1, x[1]); }},

static double exact(double (*scaled)(int, double), int n, double x) {
  return step(scaled(n, x)) * step(std::exp(std::abs(x)));
}

static double entr(D x) {
  if (std::isnan(x[0]))
    return x[0];
  return x[0] > 0 ? -x[0] * std::log(x[0]) : x[0] == 0 ? 0 : -HUGE_VAL;
}

static double logit(D x) {
  double z = x[0];
  if (x[1] >= 0) { // a negative eps bounds nothing
    double low = stored(x[1]), high = stored(1 - low);
    z = z < low ? low : z > high ? high : z;
  }
  return std::log(z / (1 - z));
}

static double sphericalBesselJ0(D x) {
  if (std::isinf(x[0]))
    return 0;
  return std::abs(x[0]) < 1e-4 ? 1 - x[0] * x[0] / 6 : std::sin(x[0]) / x[0];
}

llvm::ArrayRef<PointwiseRow> ft::interpreter::specialRows() {
  using enum OpClass;
  using enum Promote;
  static const PointwiseRow rows[] = {
      {"lgamma special_gammaln", Accumulated, Float, 1,
       [](D x) { return std::lgamma(x[0]); }},
      {"digamma special_digamma special_psi", Accumulated, Float, 1,
       [](D x) { return digamma(x[0]); }},
      {"polygamma special_polygamma", Elementary, Float, 2,
       [](D x) { return polygamma(x[0], x[1]); }},
      {"mvlgamma special_multigammaln", Elementary, Float, 1,
       [](D x) { return multigammaln(x[0], x[1]); }},
      {"special_zeta special_zeta.self_scalar special_zeta.other_scalar",
       Elementary, Float, 2, [](D x) { return zeta(x[0], x[1]); }},
      {"erfinv special_erfinv", Elementary, Float, 1,
       [](D x) { return erfinv(x[0]); }},
      {"special_erfcx", Elementary, Float, 1, [](D x) { return erfcx(x[0]); }},
      {"special_ndtr", Elementary, Float, 1,
       [](D x) { return std::erfc(-x[0] / std::sqrt(2.)) / 2; }},
      {"special_ndtri", Elementary, Float, 1, [](D x) { return ndtri(x[0]); }},
      {"special_log_ndtr", Elementary, Float, 1,
       [](D x) { return logNdtr(x[0]); }},
      {"logit special_logit", Accumulated, Float, 1, logit},
      {"special_entr", Elementary, Float, 1, entr},
      {"i0 special_i0 special_modified_bessel_i0", Elementary, Float, 1,
       [](D x) { return exact(besselIScaled, 0, x[0]); }},
      {"special_i0e", Elementary, Float, 1,
       [](D x) { return besselIScaled(0, x[0]); }},
      {"special_i1 special_modified_bessel_i1", Elementary, Float, 1,
       [](D x) { return exact(besselIScaled, 1, x[0]); }},
      {"special_i1e", Elementary, Float, 1,
       [](D x) { return besselIScaled(1, x[0]); }},
      {"special_modified_bessel_k0", Elementary, Float, 1,
       [](D x) { return besselKScaled(0, x[0]) * std::exp(-x[0]); }},
      {"special_modified_bessel_k1", Elementary, Float, 1,
       [](D x) { return besselKScaled(1, x[0]) * std::exp(-x[0]); }},
      {"special_scaled_modified_bessel_k0", Elementary, Float, 1,
       [](D x) { return besselKScaled(0, x[0]); }},
      {"special_scaled_modified_bessel_k1", Elementary, Float, 1,
       [](D x) { return besselKScaled(1, x[0]); }},
      {"special_bessel_j0", Accumulated, Float, 1,
       [](D x) { return ::j0(x[0]); }},
      {"special_bessel_j1", Accumulated, Float, 1,
       [](D x) { return ::j1(x[0]); }},
      {"special_bessel_y0", Accumulated, Float, 1,
       [](D x) { return ::y0(x[0]); }},
      {"special_bessel_y1", Accumulated, Float, 1,
       [](D x) { return ::y1(x[0]); }},
      {"special_spherical_bessel_j0", Elementary, Float, 1, sphericalBesselJ0},
      {"special_airy_ai", Accumulated, Float, 1,
       [](D x) { return airyAi(x[0]); }},
      FT_POLYNOMIAL("special_chebyshev_polynomial_t", ChebyshevT) FT_POLYNOMIAL(
          "special_chebyshev_polynomial_u",
          ChebyshevU) FT_POLYNOMIAL("special_chebyshev_polynomial_v",
                                    ChebyshevV)
          FT_POLYNOMIAL("special_chebyshev_polynomial_w", ChebyshevW)
              FT_SHIFTED("special_shifted_chebyshev_polynomial_t", ChebyshevT)
                  FT_SHIFTED("special_shifted_chebyshev_polynomial_u",
                             ChebyshevU)
                      FT_SHIFTED("special_shifted_chebyshev_polynomial_v",
                                 ChebyshevV)
                          FT_SHIFTED("special_shifted_chebyshev_polynomial_w",
                                     ChebyshevW)
                              FT_POLYNOMIAL("special_hermite_polynomial_h",
                                            HermiteH)
                                  FT_POLYNOMIAL("special_hermite_polynomial_he",
                                                HermiteHe)
                                      FT_POLYNOMIAL(
                                          "special_laguerre_polynomial_l",
                                          Laguerre)
                                          FT_POLYNOMIAL(
                                              "special_legendre_polynomial_p",
                                              Legendre)};
  return rows;
}
