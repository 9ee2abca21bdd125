//===- Fft.cpp - Derivatives of Fourier transforms -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transform is its matrix F: the gradient is F^H grad, the transform the
// other way with the same scale. A half spectrum stands for a mirrored whole:
// bins that stand for two, all but the first and, of an even size, the last,
// count twice.

#include "compiler/autograd/DerivativeTable.h"
#include "dialects/ft/Promotion.h"

namespace ft {

/// The position of the signal, whose name differs.
static constexpr unsigned kFirst = 0;

//===----------------------------------------------------------------------===//
// _fft_r2c, _fft_c2r
//===----------------------------------------------------------------------===//

static int64_t lastDim(const Term &dims, int64_t rank) {
  return RuleCall::wrap(dims.items().back().integer(), rank);
}

/// Half spectra of signals of `points` along `d`, bins that stand for two
/// multiplied by `factor`.
static Term scaleDoubled(RuleCall &c, const Term &half, int64_t d,
                         const Dim &points, double factor) {
  TensorMeta meta = RuleCall::meta(half);
  Term device = Term(Arg::ofDevice(meta.device)).named("device");
  Term bins = c.call("arange", {meta.sizes[d], device});
  // Bin k is mirrored to bin points - k.
  Term twice = c.mul(c.call("gt", {bins, 0}),
                     c.call("lt", {c.mul(bins, 2), Term(points)}));
  Dims shape(meta.sizes.size(), Dim(1));
  shape[d] = meta.sizes[d];
  Term scale =
      c.call("masked_fill",
             {c.call("ones", {Term(Dims{meta.sizes[d]}),
                              Term(toReal(meta.dtype)).named("dtype"), device}),
              twice, factor});
  return c.mul(half, c.reshape(scale, shape));
}

/// (self, dim, normalization, onesided)
static void realToComplex(GradCall &g) {
  Term self = g.arg("self"), dims = g.arg("dim"), grad = g.grad();
  Term norm = g.arg("normalization");
  if (!g.arg("onesided").truth())
    return g.set("self", g.call("_fft_c2c", {grad, dims, norm, false}));
  if (dims.items().empty())
    return g.set("self", grad);
  int64_t d = lastDim(dims, GradCall::rank(self));
  Dim points = GradCall::sizes(self)[d];
  // The transform back doubles what stands for two.
  Term half = scaleDoubled(g, grad, d, points, 0.5);
  g.set("self", g.call("_fft_c2r", {half, dims, norm, points}));
}

/// (self, dim, normalization, last_dim_size)
static void complexToReal(GradCall &g) {
  Term self = g.arg("self"), dims = g.arg("dim");
  if (dims.items().empty())
    return g.set("self", g.grad());
  int64_t d = lastDim(dims, GradCall::rank(self));
  Dim points = GradCall::sizes(g.result(0))[d];
  Term half =
      g.call("_fft_r2c", {g.grad(), dims, g.arg("normalization"), true});
  g.set("self", scaleDoubled(g, half, d, points, 2));
}

llvm::ArrayRef<DerivativeRow> fftDerivatives() {
  static constexpr DerivativeRow kRows[] = {
      {"_fft_c2r.default", complexToReal},
      {"_fft_r2c.default", realToComplex},
  };
  return kRows;
}

//===----------------------------------------------------------------------===//
// torch.fft
//===----------------------------------------------------------------------===//

namespace {
/// Dims and the number of points along each.
struct Axes {
  llvm::SmallVector<int64_t> dims;
  Dims sizes;

  Term dimTerm() const { return Term(llvm::ArrayRef<int64_t>(dims)); }
};
} // namespace

/// (self, n, dim, norm), and (self, s, dim, norm) for several dims. `half`: the
/// last dim holds half of a spectrum.
static Axes axesOf(RuleCall &c, bool half) {
  Term self = c.arg(kFirst), asked = c.arg(1U), dim = c.arg(2U);
  Dims own = RuleCall::sizes(self);
  auto rank = static_cast<int64_t>(own.size());
  Axes axes;
  std::vector<Term> points(asked.items());
  if (asked.isNumber())
    points.push_back(asked);
  if (dim.isNumber())
    axes.dims.push_back(RuleCall::wrap(dim.integer(), rank));
  for (const Term &d : dim.items())
    axes.dims.push_back(RuleCall::wrap(d.integer(), rank));
  if (dim.isNone()) {
    auto first =
        asked.isNone() ? 0 : rank - static_cast<int64_t>(points.size());
    for (int64_t d = first; d < rank; ++d)
      axes.dims.push_back(d);
  }
  for (auto [i, d] : llvm::enumerate(axes.dims)) {
    bool kept = i >= points.size() || points[i].dim().is(-1);
    Dim size = own[d];
    if (!kept)
      size = points[i].dim();
    else if (half && i + 1 == axes.dims.size())
      size = (size - 1) * 2;
    axes.sizes.push_back(size);
  }
  return axes;
}

/// The code of the scale: 0 none, 1 by the root of the count, 2 by the count.
/// "backward" scales the inverse, "forward" the other direction.
static int64_t normalization(RuleCall &c, bool inverse) {
  Term norm = c.arg("norm");
  if (norm.text() == "ortho")
    return 1;
  return (norm.text() == "forward") != inverse ? 2 : 0;
}

/// Cut, or padded with zeros, to `sizes` along `dims`.
static Term fitted(RuleCall &c, Term x, llvm::ArrayRef<int64_t> dims,
                   llvm::ArrayRef<Dim> sizes) {
  int64_t rank = RuleCall::rank(x);
  for (auto [d, size] : llvm::zip(dims, sizes)) {
    Dim own = RuleCall::sizes(x)[d];
    if (own == size)
      continue;
    if (!own.isStatic() || !size.isStatic()) {
      c.fail("sizes that are only known at run time are cut or padded");
      return {};
    }
    if (size.value() < own.value()) {
      x = c.call("narrow", {x, d, 0, size});
      continue;
    }
    std::vector<Term> pad(2 * (rank - d), Term(0));
    pad.back() = size.value() - own.value();
    x = c.call("constant_pad_nd", {x, Term(std::move(pad))});
  }
  return x;
}

static Term asComplex(RuleCall &c, const Term &x) {
  return RuleCall::isComplex(x) ? x : c.cast(x, toComplex(RuleCall::dtype(x)));
}

/// fft, ifft, fft2, ifft2, fftn, ifftn
template <bool Inverse>
static std::vector<Term> toComplexForm(RuleCall &c) {
  Axes axes = axesOf(c, false);
  Term x = fitted(c, asComplex(c, c.arg(kFirst)), axes.dims, axes.sizes);
  return {c.call("_fft_c2c",
                 {x, axes.dimTerm(), normalization(c, Inverse), !Inverse})};
}

/// rfft, rfft2, rfftn; ihfft, ihfft2, ihfftn, which are their conjugates
template <bool Inverse>
static std::vector<Term> toHalfForm(RuleCall &c) {
  Axes axes = axesOf(c, false);
  Term x = fitted(c, c.arg(kFirst), axes.dims, axes.sizes);
  Term half =
      c.call("_fft_r2c", {x, axes.dimTerm(), normalization(c, Inverse), true});
  return {Inverse ? c.conj(half) : half};
}

/// irfft, irfft2, irfftn; hfft, hfft2, hfftn, which are those of the conjugate
template <bool Inverse>
static std::vector<Term> toRealForm(RuleCall &c) {
  Axes axes = axesOf(c, true);
  Dims given = axes.sizes;
  given.back() = floorDiv(given.back(), 2) + 1;
  Term x = fitted(c, asComplex(c, c.arg(kFirst)), axes.dims, given);
  if (!Inverse)
    x = c.conj(x);
  return {c.call("_fft_c2r", {x, axes.dimTerm(), normalization(c, Inverse),
                              axes.sizes.back()})};
}

/// A roll by half of each dim.
template <bool Inverse>
static std::vector<Term> shift(RuleCall &c) {
  Term x = c.arg(kFirst);
  Dims sizes = RuleCall::sizes(x);
  std::vector<Term> shifts, dims;
  if (sizes.empty())
    return {c.call("alias", {x})};
  for (int64_t d : RuleCall::dimsOf(c.arg(1U), RuleCall::rank(x))) {
    shifts.emplace_back(floorDiv(Inverse ? sizes[d] + 1 : sizes[d], 2));
    dims.emplace_back(d);
  }
  return {c.call("roll", {x, Term(std::move(shifts)), Term(std::move(dims))})};
}

//===----------------------------------------------------------------------===//
// stft, istft
//===----------------------------------------------------------------------===//

namespace {
struct Frames {
  int64_t size = 0, hop = 0;
  Term window; // of `size`, zeros around the given one; none: all ones
};
} // namespace

/// Arguments 1 to 4: (n_fft, hop_length, win_length, window).
static Frames framesOf(RuleCall &c) {
  Frames f;
  Term hop = c.arg(2U), length = c.arg(3U), window = c.arg(4U);
  f.size = c.arg(1U).integer();
  f.hop = hop.isNone() ? f.size / 4 : hop.integer();
  int64_t given = length.isNone() ? f.size : length.integer();
  f.window = window;
  if (given == f.size)
    return f;
  if (window.isNone()) {
    TensorMeta meta = RuleCall::meta(c.arg(kFirst));
    f.window = c.call(
        "ones", {Term(Dims{given}), Term(toReal(meta.dtype)).named("dtype"),
                 Term(Arg::ofDevice(meta.device)).named("device")});
  }
  int64_t before = (f.size - given) / 2;
  f.window =
      c.call("constant_pad_nd",
             {f.window, std::vector<Term>{before, f.size - given - before}});
  return f;
}

/// (self, n_fft, hop_length, win_length, window, [center, pad_mode,]
/// normalized, onesided, return_complex, align_to_window)
static std::vector<Term> stft(RuleCall &c) {
  Term x = c.arg(kFirst);
  bool batched = RuleCall::rank(x) == 2;
  if (!batched)
    x = c.call("unsqueeze", {x, 0});
  Frames f = framesOf(c);
  bool centered = c.schema().argIndex("center") >= 0;
  if (centered && c.arg("center").truth()) {
    std::vector<Term> pad = {f.size / 2, f.size / 2};
    x = c.call("pad", {c.call("unsqueeze", {x, 0}), Term(std::move(pad)),
                       c.arg("pad_mode")});
    x = c.call("squeeze.dim", {x, 0});
  }
  x = c.call("unfold", {x, 1, f.size, f.hop});
  if (f.window.isTensor())
    x = c.mul(x, f.window);
  Term dims = std::vector<Term>{2};
  int64_t norm = c.arg("normalized").truth() ? 1 : 0;
  Term onesided = c.arg("onesided"), r;
  if (RuleCall::isComplex(x))
    r = c.call("_fft_c2c", {x, dims, norm, true});
  else
    r = c.call("_fft_r2c",
               {x, dims, norm, onesided.isNone() || onesided.truth()});
  r = c.call("transpose", {r, 1, 2});
  if (!batched)
    r = c.call("squeeze.dim", {r, 0});
  Term complex = c.arg("return_complex");
  return {complex.isNone() || complex.truth() ? r
                                              : c.call("view_as_real", {r})};
}

/// (self, n_fft, hop_length, win_length, window, center, normalized, onesided,
/// length, return_complex): frames times the window, added where they overlap,
/// over the sum of the squared windows.
static std::vector<Term> istft(RuleCall &c) {
  Term x = c.arg(kFirst);
  bool batched = RuleCall::rank(x) == 3;
  if (!batched)
    x = c.call("unsqueeze", {x, 0});
  Frames f = framesOf(c);
  Dims sizes = RuleCall::sizes(x);
  Dim length = RuleCall::sizes(c.result(0)).back();
  if (!sizes[2].isStatic() || !length.isStatic()) {
    c.fail("with a number of frames that is only known at run time");
    return {};
  }
  int64_t count = sizes[2].value();
  bool complex = c.arg("return_complex").truth();
  Term onesided = c.arg("onesided");
  bool half = onesided.isNone() ? !sizes[1].is(f.size) : onesided.truth();
  int64_t norm = c.arg("normalized").truth() ? 1 : 2;
  x = c.call("transpose", {x, 1, 2});
  Term dims = std::vector<Term>{2};
  if (!complex && !half)
    x = c.call("narrow", {x, 2, 0, f.size / 2 + 1});
  x = complex ? c.call("_fft_c2c", {x, dims, norm, false})
              : c.call("_fft_c2r", {x, dims, norm, f.size});
  Term window = f.window.isTensor()
                    ? f.window
                    : c.call("new_ones", {x, Term(Dims{Dim(f.size)})});
  x = c.mul(x, window);
  Term squares =
      c.call("expand", {c.mul(window, window),
                        Term(Dims{Dim(1), Dim(count), Dim(f.size)})});
  int64_t total = f.size + f.hop * (count - 1);
  int64_t start = c.arg("center").truth() ? f.size / 2 : 0;
  int64_t kept = std::min(length.value(), total - start);
  auto added = [&](const Term &frames, const Dim &batch) {
    Term sum = c.call("unfold_backward", {frames, Term(Dims{batch, Dim(total)}),
                                          1, f.size, f.hop});
    return c.call("narrow", {sum, 1, start, kept});
  };
  Term r = c.div(added(x, sizes[0]), added(squares, 1));
  if (kept < length.value())
    r = c.call("constant_pad_nd",
               {r, std::vector<Term>{0, length.value() - kept}});
  return {batched ? r : c.call("squeeze.dim", {r, 0})};
}

llvm::ArrayRef<ExpandRow> fftExpansions() {
  static constexpr ExpandRow kRows[] = {
      {"fft_fft.default", toComplexForm<false>},
      {"fft_fft2.default", toComplexForm<false>},
      {"fft_fftn.default", toComplexForm<false>},
      {"fft_fftshift.default", shift<false>},
      {"fft_hfft.default", toRealForm<false>},
      {"fft_hfft2.default", toRealForm<false>},
      {"fft_hfftn.default", toRealForm<false>},
      {"fft_ifft.default", toComplexForm<true>},
      {"fft_ifft2.default", toComplexForm<true>},
      {"fft_ifftn.default", toComplexForm<true>},
      {"fft_ifftshift.default", shift<true>},
      {"fft_ihfft.default", toHalfForm<true>},
      {"fft_ihfft2.default", toHalfForm<true>},
      {"fft_ihfftn.default", toHalfForm<true>},
      {"fft_irfft.default", toRealForm<true>},
      {"fft_irfft2.default", toRealForm<true>},
      {"fft_irfftn.default", toRealForm<true>},
      {"fft_rfft.default", toHalfForm<false>},
      {"fft_rfft2.default", toHalfForm<false>},
      {"fft_rfftn.default", toHalfForm<false>},
      {"istft.default", istft},
      {"stft.center", stft},
      {"stft.default", stft},
  };
  return kRows;
}

} // namespace ft
