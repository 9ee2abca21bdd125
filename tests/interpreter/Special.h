//===- Special.h - Special functions in float64 ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By methods that need no tables, so that nothing is shared with the
// polynomials of the compiler: quadrature that converges exponentially, series,
// asymptotic expansions. Good to about 1e-12, which is enough for everything
// but a comparison of float64 to the last place; slow.

#ifndef FORETRACE_TESTS_INTERPRETER_SPECIAL_H
#define FORETRACE_TESTS_INTERPRETER_SPECIAL_H

namespace ft::interpreter {

double digamma(double x);
/// Hurwitz's zeta function, Σ (k + q)^-s.
double zeta(double s, double q);
double polygamma(double n, double x);
double erfinv(double y);
double erfcx(double x);
double ndtri(double p);
double logNdtr(double x);
/// Modified Bessel functions I_n times e^-|x|, K_n times e^x.
double besselIScaled(int n, double x);
double besselKScaled(double n, double x);
double airyAi(double x);
double multigammaln(double x, double p);

enum class Polynomial {
  ChebyshevT,
  ChebyshevU,
  ChebyshevV,
  ChebyshevW,
  HermiteH,
  HermiteHe,
  Laguerre,
  Legendre
};
/// 0 for negative n, by the three-term recurrence otherwise.
double polynomial(Polynomial which, double x, double n);

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_SPECIAL_H
