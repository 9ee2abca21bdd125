//===- Fourier.cpp - Discrete Fourier transforms --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each line along a dim by its definition, Σ x[j] e^(∓2πi jk/n), whose angles
// are reduced exactly: n² steps, no factorisation of n. Real forms are the
// complex one of a signal that is filled up: X[n - k] = conj X[k].

#include "dialects/ft/Promotion.h"
#include "tests/interpreter/Families.h"
#include "tests/interpreter/Lines.h"

#include <cmath>

using namespace ft;
using namespace ft::interpreter;

static constexpr double kTwoPi = 6.28318530717958647692;

namespace {
/// What a call asks for besides its tensor.
struct Transform {
  /// The last of them is the one that real forms halve.
  Shape dims;
  /// The length along each of `dims` (of the longer side).
  Shape lengths;
  bool forward = true;
  /// Of each length: by how much its sums are multiplied is length^-power.
  double power = 0;
};

/// A tensor of complex128, which rounds nothing.
class Signal {
public:
  explicit Signal(const Tensor &from) : data(from.to(DType::C128)) {}

  /// Cut or filled with zeros to `length` along `dim`.
  void resize(int64_t dim, int64_t length);
  void transform(int64_t dim, bool forward, double power);
  /// The half that is stored of a line of `length` becomes the whole line.
  void mirror(int64_t dim, int64_t length);

  Tensor data;
};
} // namespace

void Signal::resize(int64_t dim, int64_t length) {
  Shape shape = data.shape;
  shape[dim] = length;
  Tensor other(DType::C128, shape);
  forEachIndex(shape, [&](Index index, int64_t i) {
    if (index[dim] < data.shape[dim])
      other.set(i, data, flatten(data.shape, index));
  });
  data = std::move(other);
}

void Signal::transform(int64_t dim, bool forward, double power) {
  Lines lines(data.shape, dim);
  int64_t n = lines.length;
  double scale = std::pow(double(n), -power), sign = forward ? -1 : 1;
  std::vector<Complex> roots;
  for (int64_t k = 0; k < n; ++k)
    roots.push_back(std::polar(1., sign * kTwoPi * double(k) / double(n)));
  Tensor other(DType::C128, data.shape);
  for (int64_t line = 0; line < lines.count; ++line)
    for (int64_t k = 0; k < n; ++k) {
      Complex sum = 0;
      for (int64_t j = 0; j < n; ++j)
        sum += data.complex(lines.at(line, j)) * roots[j * k % n];
      other.setComplex(lines.at(line, k), sum * scale);
    }
  data = std::move(other);
}

void Signal::mirror(int64_t dim, int64_t length) {
  int64_t half = length / 2;
  resize(dim, half + 1);
  resize(dim, length);
  Lines lines(data.shape, dim);
  for (int64_t line = 0; line < lines.count; ++line)
    for (int64_t k = 0; k <= half; ++k) {
      Complex x = data.complex(lines.at(line, k));
      if (k == 0 || 2 * k == length) // the imaginary part is not looked at
        data.setComplex(lines.at(line, k), x.real());
      else
        data.setComplex(lines.at(line, length - k), std::conj(x));
    }
}

/// The arguments of fft_*: n or s, dim, norm.
static Transform publicForm(Call &call, bool forward, bool halvesResult) {
  Transform t;
  t.forward = forward;
  const Tensor &self = call.tensor(0);
  int64_t rank = self.rank();
  Shape asked = call.integers(1);
  if (call.has(2)) {
    for (int64_t d : call.integers(2))
      t.dims.push_back(d < 0 ? d + rank : d);
  } else {
    int64_t count = call.has(1) ? int64_t(asked.size()) : rank;
    for (int64_t d = rank - count; d < rank; ++d)
      t.dims.push_back(d);
  }
  // The result has every length but the one that it holds half of.
  for (int64_t d : t.dims)
    t.lengths.push_back(call.out().shape[d]);
  if (halvesResult && !t.dims.empty())
    t.lengths.back() = !asked.empty() && asked.back() != -1
                           ? asked.back()
                           : self.shape[t.dims.back()];
  llvm::StringRef norm = call.has(3) ? call.text(3) : "backward";
  t.power = norm == "ortho" ? 0.5 : (norm == "forward") == forward ? 1 : 0;
  return t;
}

/// The arguments of _fft_*: dim, normalization (0: none, 1: by the root of the
/// length, 2: by the length).
static Transform privateForm(Call &call, bool forward) {
  Transform t;
  t.forward = forward;
  int64_t rank = call.tensor(0).rank();
  for (int64_t d : call.integers(1)) {
    t.dims.push_back(d < 0 ? d + rank : d);
    t.lengths.push_back(call.tensor(0).shape[t.dims.back()]);
  }
  t.power = double(call.integer(2)) / 2;
  return t;
}

/// No kernel takes 16-bit floats, nor lines of no elements; where infinities
/// meet is the algorithm's choice.
static bool hasValue(Call &call, const Transform &t) {
  for (int64_t i = 0, n = call.tensor(0).numel(); i < n; ++i)
    if (!std::isfinite(std::abs(call.tensor(0).complex(i))))
      call.open("a transform of infinity");
  DType real = toReal(call.tensor(0).dtype);
  if (real == DType::F16 || real == DType::BF16)
    call.open("a transform of 16-bit floats");
  for (int64_t length : t.lengths)
    if (length < 1)
      call.open("a transform of nothing");
  return call.unspecified.empty();
}

static void store(Call &call, const Signal &signal) {
  for (int64_t i = 0, n = call.out().numel(); i < n; ++i)
    call.out().setComplex(i, signal.data.complex(i));
}

static void complexToComplex(Call &call, const Transform &t) {
  if (!hasValue(call, t))
    return;
  Signal signal(call.tensor(0));
  for (size_t i = 0; i < t.dims.size(); ++i)
    signal.resize(t.dims[i], t.lengths[i]);
  for (int64_t d : t.dims)
    signal.transform(d, t.forward, t.power);
  store(call, signal);
}

/// From real numbers to the half of the result that tells all of it.
static void realToComplex(Call &call, const Transform &t) {
  if (!hasValue(call, t))
    return;
  Signal signal(call.tensor(0));
  for (size_t i = 0; i < t.dims.size(); ++i)
    signal.resize(t.dims[i], t.lengths[i]);
  for (int64_t d : t.dims)
    signal.transform(d, t.forward, t.power);
  int64_t last = t.dims.back();
  signal.resize(last, call.out().shape[last]);
  store(call, signal);
}

/// Back to real numbers: the other dims first.
static void complexToReal(Call &call, const Transform &t) {
  if (!hasValue(call, t))
    return;
  Signal signal(call.tensor(0));
  for (size_t i = 0; i + 1 < t.dims.size(); ++i) {
    signal.resize(t.dims[i], t.lengths[i]);
    signal.transform(t.dims[i], t.forward, t.power);
  }
  signal.mirror(t.dims.back(), t.lengths.back());
  signal.transform(t.dims.back(), t.forward, t.power);
  for (int64_t i = 0, n = call.out().numel(); i < n; ++i)
    call.out().setReal(i, signal.data.complex(i).real());
}

template <bool kForward>
static void fft(Call &call) {
  complexToComplex(call, publicForm(call, kForward, false));
}
static void rfft(Call &call) {
  realToComplex(call, publicForm(call, true, true));
}
static void irfft(Call &call) {
  complexToReal(call, publicForm(call, false, false));
}
/// Of a signal that is half of a symmetric one, whose spectrum is real.
static void hfft(Call &call) {
  complexToReal(call, publicForm(call, true, false));
}
static void ihfft(Call &call) {
  realToComplex(call, publicForm(call, false, true));
}

static void c2c(Call &call) {
  complexToComplex(call, privateForm(call, call.flag(3)));
}
static void r2c(Call &call) {
  Transform t = privateForm(call, true);
  call.flag(3) ? realToComplex(call, t) : complexToComplex(call, t);
}
static void c2r(Call &call) {
  Transform t = privateForm(call, false);
  if (!t.lengths.empty())
    t.lengths.back() = call.integer(3);
  complexToReal(call, t);
}

/// The first frequency to the middle (fftshift), or back.
template <bool kBack>
static void shift(Call &call) {
  const Tensor &self = call.tensor(0);
  std::vector<bool> chosen = call.dims(1, self.rank(), true);
  forEachIndex(self.shape, [&](Index index, int64_t i) {
    Shape at(index.begin(), index.end());
    for (size_t d = 0; d < at.size(); ++d)
      if (chosen[d]) {
        int64_t n = self.shape[d];
        at[d] = (at[d] + (kBack ? n - n / 2 : n / 2)) % n;
      }
    call.out().set(flatten(self.shape, at), self, i);
  });
}

llvm::ArrayRef<OpRow> ft::interpreter::fourierOps() {
  using enum OpClass;
  static const OpRow rows[] = {
      {"fft_fft.default", fft<true>, Accumulated},
      {"fft_fft2.default", fft<true>, Accumulated},
      {"fft_fftn.default", fft<true>, Accumulated},
      {"fft_ifft.default", fft<false>, Accumulated},
      {"fft_ifft2.default", fft<false>, Accumulated},
      {"fft_ifftn.default", fft<false>, Accumulated},
      {"fft_rfft.default", rfft, Accumulated},
      {"fft_rfft2.default", rfft, Accumulated},
      {"fft_rfftn.default", rfft, Accumulated},
      {"fft_irfft.default", irfft, Accumulated},
      {"fft_irfft2.default", irfft, Accumulated},
      {"fft_irfftn.default", irfft, Accumulated},
      {"fft_hfft.default", hfft, Accumulated},
      {"fft_hfft2.default", hfft, Accumulated},
      {"fft_hfftn.default", hfft, Accumulated},
      {"fft_ihfft.default", ihfft, Accumulated},
      {"fft_ihfft2.default", ihfft, Accumulated},
      {"fft_ihfftn.default", ihfft, Accumulated},
      {"_fft_c2c.default", c2c, Accumulated},
      {"_fft_r2c.default", r2c, Accumulated},
      {"_fft_c2r.default", c2r, Accumulated},
      {"fft_fftshift.default", shift<false>, Exact},
      {"fft_ifftshift.default", shift<true>, Exact},
  };
  return rows;
}
