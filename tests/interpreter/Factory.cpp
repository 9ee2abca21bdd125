//===- Factory.cpp - Tensors from numbers ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Families.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

static void fillWith(Call &call, unsigned i) {
  Tensor &out = call.out();
  for (int64_t k = 0, n = out.numel(); k < n; ++k) {
    if (const Tensor *value = call.optTensor(i))
      out.set(k, *value, 0);
    else if (call.args[i].kind == Arg::Complex)
      out.setComplex(k, call.complex(i));
    else if (call.args[i].kind == Arg::Float)
      out.setReal(k, call.number(i));
    else
      out.setInteger(k, call.integer(i));
  }
}

template <unsigned position>
static void fill(Call &call) {
  fillWith(call, position);
}

static void zeros(Call &) {}

static void ones(Call &call) {
  for (int64_t k = 0, n = call.out().numel(); k < n; ++k)
    call.out().setInteger(k, 1);
}

static void eye(Call &call) {
  forEachIndex(call.out().shape, [&](Index index, int64_t i) {
    if (index[0] == index[1])
      call.out().setInteger(i, 1);
  });
}

static void arange(Call &call) {
  bool hasStart = call.schema.overload != "default";
  bool hasStep = call.schema.overload == "start_step";
  Tensor &out = call.out();
  double start = hasStart ? call.number(0) : 0;
  double step = hasStep ? call.number(2) : 1;
  for (int64_t i = 0, n = out.numel(); i < n; ++i)
    if (out.whole())
      out.setInteger(i, (hasStart ? call.integer(0) : 0) +
                            i * (hasStep ? call.integer(2) : 1));
    else
      out.setReal(i, start + static_cast<double>(i) * step);
}

/// From both ends, so that the last element is the end itself.
static void linspace(Call &call) {
  bool power = call.base() == "logspace";
  Tensor &out = call.out();
  if (out.dtype == DType::Bool || (power && out.whole()))
    return call.open("steps that are cut to integers");
  auto end = [&](unsigned i) {
    const Tensor *tensor = call.optTensor(i);
    return tensor ? tensor->complex(0) : call.complex(i);
  };
  Complex a = end(0), b = end(1);
  int64_t n = out.numel();
  if (out.whole()) { // integers step in float32 and are cut
    a = std::trunc(a.real());
    b = std::trunc(b.real());
  }
  Complex step = n > 1 ? (b - a) / double(n - 1) : 0.;
  for (int64_t i = 0; i < n; ++i) {
    Complex value = i < n / 2 || n == 1 ? a + step * double(i)
                                        : b - step * double(n - 1 - i);
    if (power)
      value = isComplex(out.dtype)
                  ? std::pow(Complex(call.number(3)), value)
                  : Complex(std::pow(call.number(3), value.real()));
    if (out.whole() && n > 1 && std::abs(value.real()) < 1e6 &&
        std::abs(value.real() - std::nearbyint(value.real())) < 1e-4 &&
        value.real() != std::nearbyint(value.real()))
      call.open("linspace of integers at a rounding's edge");
    out.setComplex(i, value);
  }
}

static void triangleIndices(Call &call) {
  bool lower = call.base() == "tril_indices";
  int64_t rows = call.integer(0), columns = call.integer(1);
  int64_t offset = call.integer(2), next = 0;
  Tensor &out = call.out();
  int64_t n = out.shape[1];
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      if ((lower ? c - r <= offset : c - r >= offset) && next < n) {
        out.setInteger(next, r);
        out.setInteger(n + next++, c);
      }
}

/// Σ (x/2)^2k / k!²
static double modifiedBessel(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 200; ++k) {
    term *= (x / 2) * (x / 2) / (double(k) * k);
    sum += term;
  }
  return sum;
}

/// A periodic window is one more point of the symmetric one, left out.
static void window(Call &call) {
  int64_t n = call.out().numel();
  int at = call.schema.argIndex("periodic");
  bool periodic = at < 0 || call.flag(at);
  auto last = static_cast<double>(periodic ? n : n - 1);
  auto given = [&](llvm::StringRef name, double value) {
    int i = call.schema.argIndex(name);
    return i < 0 ? value : call.number(i);
  };
  llvm::StringRef base = call.base();
  for (int64_t i = 0; i < n; ++i) {
    double t = last > 0 ? double(i) / last : 0, turn = 2 * M_PI * t, y = 1;
    if (n == 1)
      y = 1;
    else if (base == "bartlett_window")
      y = 1 - std::abs(2 * t - 1);
    else if (base == "blackman_window")
      y = 0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2 * turn);
    else if (base == "hann_window")
      y = 0.5 - 0.5 * std::cos(turn);
    else if (base == "hamming_window")
      y = given("alpha", 0.54) - given("beta", 0.46) * std::cos(turn);
    else
      y = modifiedBessel(given("beta", 12) *
                         std::sqrt(1 - std::pow(2 * t - 1, 2))) /
          modifiedBessel(given("beta", 12));
    call.out().setReal(i, y);
  }
}

/// (n, d): the frequencies of the bins, those of the upper half negative.
static void frequencies(Call &call) {
  int64_t n = call.integer(0);
  bool half = call.base() == "fft_rfftfreq";
  for (int64_t i = 0, count = call.out().numel(); i < count; ++i) {
    int64_t k = half || i < (n + 1) / 2 ? i : i - n;
    call.out().setReal(i, double(k) / (double(n) * call.number(1)));
  }
}

/// Powers of each element of the last dim.
static void vander(Call &call) {
  const Tensor &x = call.tensor(0);
  Tensor &out = call.out();
  int64_t n = out.shape.back();
  bool rising = call.base() == "linalg_vander" || call.flag(2);
  for (int64_t i = 0, count = x.numel(); i < count; ++i) {
    Complex power = 1;
    uint64_t whole = 1;
    for (int64_t k = 0; k < n; ++k) {
      int64_t to = i * n + (rising ? k : n - 1 - k);
      if (out.whole())
        out.setInteger(to, static_cast<int64_t>(whole));
      else
        out.setComplex(to, power);
      power *= x.complex(i);
      whole *= static_cast<uint64_t>(x.integer(i));
    }
  }
}

llvm::ArrayRef<OpRow> ft::interpreter::factoryOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"full.default", fill<1>, Exact},
      {"full_like.default", fill<1>, Exact},
      {"new_full.default", fill<2>, Exact},
      {"fill.Scalar", fill<1>, Exact},
      {"fill.Tensor", fill<1>, Exact},
      {"scalar_tensor.default", fill<0>, Exact},
      {"zeros.default", zeros, Exact},
      {"zeros_like.default", zeros, Exact},
      {"new_zeros.default", zeros, Exact},
      {"zero.default", zeros, Exact},
      {"ones.default", ones, Exact},
      {"ones_like.default", ones, Exact},
      {"new_ones.default", ones, Exact},
      {"eye.default", eye, Exact},
      {"eye.m", eye, Exact},
      {"arange.default", arange, Elementary},
      {"arange.start", arange, Elementary},
      {"arange.start_step", arange, Elementary},
      {"linspace.default", linspace, Elementary},
      {"linspace.Scalar_Tensor", linspace, Elementary},
      {"linspace.Tensor_Scalar", linspace, Elementary},
      {"linspace.Tensor_Tensor", linspace, Elementary},
      {"logspace.default", linspace, Elementary},
      {"logspace.Scalar_Tensor", linspace, Elementary},
      {"logspace.Tensor_Scalar", linspace, Elementary},
      {"logspace.Tensor_Tensor", linspace, Elementary},
      {"bartlett_window.default", window, Elementary},
      {"bartlett_window.periodic", window, Elementary},
      {"blackman_window.default", window, Elementary},
      {"blackman_window.periodic", window, Elementary},
      {"hann_window.default", window, Elementary},
      {"hann_window.periodic", window, Elementary},
      {"hamming_window.default", window, Elementary},
      {"hamming_window.periodic", window, Elementary},
      {"hamming_window.periodic_alpha", window, Elementary},
      {"hamming_window.periodic_alpha_beta", window, Elementary},
      {"kaiser_window.default", window, Elementary},
      {"kaiser_window.periodic", window, Elementary},
      {"kaiser_window.beta", window, Elementary},
      {"fft_fftfreq.default", frequencies, Elementary},
      {"fft_rfftfreq.default", frequencies, Elementary},
      {"vander.default", vander, Elementary},
      {"linalg_vander.default", vander, Elementary},
      {"tril_indices.default", triangleIndices, Exact},
      {"triu_indices.default", triangleIndices, Exact},
  };
  return rows;
}
