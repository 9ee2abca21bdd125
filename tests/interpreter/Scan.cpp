//===- Scan.cpp - Running sums, products and extrema ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"
#include "tests/interpreter/Lines.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

static void cumulate(Call &call) {
  bool product = call.base() == "cumprod";
  Tensor &out = call.out();
  Tensor self = call.tensor(0).to(out.dtype);
  Lines lines(self.shape, call.dim(1, self.rank()));
  for (int64_t l = 0; l < lines.count; ++l) {
    uint64_t whole = product;
    Complex value = product;
    for (int64_t k = 0; k < lines.length; ++k) {
      int64_t i = lines.at(l, k);
      uint64_t x = static_cast<uint64_t>(self.integer(i));
      whole = product ? whole * x : whole + x;
      if (isComplex(out.dtype))
        value = product ? value * self.complex(i) : value + self.complex(i);
      else
        value =
            product ? value.real() * self.real(i) : value.real() + self.real(i);
      if (out.whole())
        out.setInteger(i, static_cast<int64_t>(whole));
      else
        out.setComplex(i, value);
    }
  }
}

/// The latest of equal extrema; once a NaN, always the latest NaN.
template <int sign>
static void cumulateExtremum(Call &call) {
  const Tensor &self = call.tensor(0);
  Lines lines(self.shape, call.dim(1, self.rank()));
  for (int64_t l = 0; l < lines.count; ++l) {
    int64_t best = 0;
    for (int64_t k = 0; k < lines.length; ++k) {
      double a = self.real(lines.at(l, k)), b = self.real(lines.at(l, best));
      bool better = sign > 0 ? a >= b : a <= b;
      if (self.whole()) {
        int64_t x = self.integer(lines.at(l, k));
        int64_t y = self.integer(lines.at(l, best));
        better = sign > 0 ? x >= y : x <= y;
      }
      if (better || std::isnan(a))
        best = k;
      call.out(0).set(lines.at(l, k), self, lines.at(l, best));
      call.out(1).setInteger(lines.at(l, k), best);
    }
  }
}

/// log(e^x + e^y) for numbers that are finite or -inf: over the larger.
static Complex logPlus(Complex x, Complex y) {
  Complex high = x.real() < y.real() ? y : x;
  if (high.real() == -HUGE_VAL)
    return y;
  return high + std::log(std::exp(x - high) + std::exp(y - high));
}

static void complexLogcumsumexp(Call &call) {
  const Tensor &self = call.tensor(0);
  Lines lines(self.shape, call.dim(1, self.rank()));
  for (int64_t l = 0; l < lines.count; ++l) {
    Complex value = -HUGE_VAL;
    for (int64_t k = 0; k < lines.length; ++k) {
      Complex x = self.complex(lines.at(l, k));
      if (x.real() == HUGE_VAL || std::isinf(x.imag()))
        return call.open("an angle of an infinite number");
      if (std::isnan(x.real()) || std::isnan(x.imag()) ||
          std::isnan(value.real()))
        value = {std::nan(""), std::nan("")};
      else
        value = logPlus(x, value);
      call.out().setComplex(lines.at(l, k), value);
    }
  }
}

static void logcumsumexp(Call &call) {
  const Tensor &self = call.tensor(0);
  if (isComplex(self.dtype))
    return complexLogcumsumexp(call);
  Lines lines(self.shape, call.dim(1, self.rank()));
  for (int64_t l = 0; l < lines.count; ++l) {
    double value = -HUGE_VAL;
    for (int64_t k = 0; k < lines.length; ++k) {
      double x = self.real(lines.at(l, k));
      double most = std::max(x, value);
      if (std::isnan(x) || std::isnan(value))
        value = std::nan("");
      else if (std::isinf(most))
        value = most;
      else
        value = most + std::log1p(std::exp(std::min(x, value) - most));
      call.out().setReal(lines.at(l, k), value);
    }
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::scanOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"cumsum.default", cumulate, Accumulated},
      {"cumprod.default", cumulate, Accumulated},
      {"cummax.default", cumulateExtremum<1>, Exact},
      {"cummin.default", cumulateExtremum<-1>, Exact},
      {"logcumsumexp.default", logcumsumexp, Accumulated},
      {"_logcumsumexp.default", logcumsumexp, Accumulated},
  };
  return rows;
}
