//===- FftForms.cpp - torch.fft, as programs call it -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each is a conversion to a dtype that can be transformed, a cut or a padding
// of the dims to the sizes asked for, and one of the transforms of Fft.cpp.
//
//   fft_irfft(f32 [3, 8], n=6): complex64 [3, 8], cut to [3, 4], to f32 [3, 6]

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/FftRules.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

using DimList = SmallVector<int64_t, 6>;

namespace {
/// What is transformed: dims and the size of each.
struct Axes {
  DimList dims;
  Dims sizes;
};
} // namespace

FailureOr<DType> transformDType(FakeCall &c, DType dtype, bool complex) {
  if (isComplex(dtype))
    return dtype;
  DType real = toFloat(dtype);
  bool half = real == DType::F16 && c.device.kind != Device::Cpu;
  if (real != DType::F32 && real != DType::F64 && !half)
    return c.fail(FakeError::Other, c.schema().base + " is not defined for " +
                                        dtypeName(dtype) + " on " +
                                        c.device.str());
  return complex ? toComplex(real) : real;
}

static LogicalResult checkCount(FakeCall &c, Dim n, int64_t dim) {
  if (!c.lt(n, 1))
    return success();
  return c.fail(FakeError::Other, c.schema().base +
                                      " needs at least one point along dim " +
                                      Twine(dim) + ", not " + n.str());
}

/// Argument 0 in a dtype that can be transformed.
static FailureOr<TensorMeta> converted(FakeCall &c, bool complex) {
  TensorMeta out = c.tensor(0);
  FailureOr<DType> dtype = transformDType(c, out.dtype, complex);
  if (failed(dtype))
    return failure();
  out.device = c.device;
  if (*dtype != out.dtype) {
    out.dtype = *dtype;
    out.strides = likeStrides(out);
  }
  return out;
}

/// `t` cut along dims that are too large, then padded along too small ones.
static TensorMeta fitted(FakeCall &c, TensorMeta t, const Axes &axes) {
  Dims padded = t.sizes;
  bool pads = false;
  for (auto [d, n] : zip(axes.dims, axes.sizes)) {
    if (c.eq(t.sizes[d], n))
      continue;
    padded[d] = n;
    if (c.lt(t.sizes[d], n))
      pads = true;
    else
      t.sizes[d] = n;
  }
  if (!pads)
    return t;
  t.strides = followingStrides(padded, t);
  t.sizes = padded;
  return t;
}

static LogicalResult needsReal(FakeCall &c) {
  if (!isComplex(c.tensor(0).dtype))
    return success();
  return c.fail(FakeError::Other, c.schema().base +
                                      " needs a real dtype, not " +
                                      dtypeName(c.tensor(0).dtype));
}

//===----------------------------------------------------------------------===//
// Along one dim: (self, n, dim, norm)
//===----------------------------------------------------------------------===//

static LogicalResult checkNorm(FakeCall &c, unsigned i) {
  StringRef norm = c.optText(i);
  if (norm.empty() || norm == "forward" || norm == "backward" ||
      norm == "ortho")
    return success();
  return c.fail(FakeError::Other, "norm must be 'forward', 'backward' or "
                                  "'ortho', not '" +
                                      norm + "'");
}

static FailureOr<int64_t> signalDim(FakeCall &c) {
  if (c.tensor(0).sizes.empty())
    return c.fail(FakeError::Index, "a tensor without dims has no dim " +
                                        c.dim(2).str() + " to transform");
  return c.wrapDim(2, c.tensor(0).rank());
}

namespace {
/// The operand as the transform takes it, cut or padded to the size asked for.
struct Signal {
  TensorMeta meta;
  int64_t dim;
};
} // namespace

static FailureOr<Signal> signalOf(FakeCall &c) {
  FailureOr<TensorMeta> self = converted(c, false);
  if (failed(self))
    return failure();
  FailureOr<int64_t> dim = signalDim(c);
  if (failed(dim))
    return failure();
  Dim n = c.isNone(1) ? self->sizes[*dim] : c.dim(1);
  if (failed(checkCount(c, n, *dim)) || failed(checkNorm(c, 3)))
    return failure();
  return Signal{fitted(c, *self, {{*dim}, {n}}), *dim};
}

/// fft, ifft: complex results of the size asked for.
template <bool Inverse>
static LogicalResult complexForm(FakeCall &c) {
  bool real = !isComplex(c.tensor(0).dtype);
  FailureOr<Signal> in = signalOf(c);
  if (failed(in))
    return failure();
  if (!real)
    return c.fresh(complexTransform(in->meta, in->dim));
  TensorMeta out = realTransform(in->meta, in->dim, false);
  // The inverse of a real signal is the conjugate of its transform, lazily.
  out.conj = Inverse;
  return c.fresh(out);
}

/// rfft, ihfft: half a spectrum.
template <bool Inverse>
static LogicalResult halfForm(FakeCall &c) {
  if (failed(needsReal(c)))
    return failure();
  FailureOr<Signal> in = signalOf(c);
  if (failed(in))
    return failure();
  TensorMeta out = realTransform(in->meta, in->dim, /*onesided=*/true);
  out.conj = Inverse;
  return c.fresh(out);
}

/// irfft, hfft: a real signal from half a spectrum.
static LogicalResult realForm(FakeCall &c) {
  FailureOr<TensorMeta> self = converted(c, true);
  if (failed(self))
    return failure();
  FailureOr<int64_t> dim = signalDim(c);
  if (failed(dim))
    return failure();
  Dim n = c.isNone(1) ? (self->sizes[*dim] - 1) * 2 : c.dim(1);
  if (failed(checkCount(c, n, *dim)) || failed(checkNorm(c, 3)))
    return failure();
  TensorMeta signal = *self;
  if (!c.isNone(1))
    signal = fitted(c, signal, {{*dim}, {floorDiv(n, 2) + 1}});
  return c.fresh(inverseRealTransform(signal, *dim, n));
}

//===----------------------------------------------------------------------===//
// Along several: (self, s, dim, norm)
//===----------------------------------------------------------------------===//

/// `s` alone is about the last dims, `dim` alone keeps their sizes; a size of
/// -1, too, is kept.
static FailureOr<Axes> axesOf(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Axes axes;
  bool sized = !c.isNone(1), named = !c.isNone(2);
  Dims sizes = sized ? c.dims(1) : Dims();
  if (named) {
    if (self.sizes.empty() && !c.dims(2).empty())
      return c.fail(FakeError::Index,
                    "a tensor without dims has no dim to transform");
    auto dims = c.wrapDims(2, self.rank(), /*emptyIsAll=*/false);
    if (failed(dims))
      return failure();
    axes.dims = *dims;
    if (sized && sizes.size() != axes.dims.size())
      return c.fail(FakeError::Other, "there are " + Twine(sizes.size()) +
                                          " sizes for " +
                                          Twine(axes.dims.size()) + " dims");
  }
  if (sized && static_cast<int64_t>(sizes.size()) > self.rank())
    return c.fail(FakeError::Other, "there are " + Twine(sizes.size()) +
                                        " sizes for a tensor of " +
                                        Twine(self.rank()) + " dims");
  if (!named)
    for (int64_t d = sized ? self.rank() - sizes.size() : 0; d < self.rank();
         ++d)
      axes.dims.push_back(d);
  for (auto [i, d] : enumerate(axes.dims)) {
    Dim n = sized && !sizes[i].is(-1) ? sizes[i] : self.sizes[d];
    if (failed(checkCount(c, n, d)))
      return failure();
    axes.sizes.push_back(n);
  }
  return axes;
}

static LogicalResult needsDims(FakeCall &c, const Axes &axes) {
  if (!axes.dims.empty())
    return success();
  return c.fail(FakeError::Other,
                c.schema().base + " needs at least one dim to transform, of " +
                    c.show(c.tensor(0)));
}

/// fftn, ifftn, fft2, ifft2
static LogicalResult complexForms(FakeCall &c) {
  FailureOr<Axes> axes = axesOf(c);
  if (failed(axes))
    return failure();
  FailureOr<TensorMeta> self = converted(c, true);
  if (failed(self) || failed(checkNorm(c, 3)))
    return failure();
  return c.fresh(complexTransform(fitted(c, *self, *axes), axes->dims));
}

/// rfftn, rfft2; ihfftn and ihfft2 transform the other dims afterwards.
template <bool Inverse>
static LogicalResult halfForms(FakeCall &c) {
  if (failed(needsReal(c)))
    return failure();
  FailureOr<Axes> axes = axesOf(c);
  if (failed(axes) || failed(needsDims(c, *axes)))
    return failure();
  FailureOr<TensorMeta> self = converted(c, false);
  if (failed(self) || failed(checkNorm(c, 3)))
    return failure();
  TensorMeta signal = fitted(c, *self, *axes);
  if (!Inverse)
    return c.fresh(realTransform(signal, axes->dims, true));
  ArrayRef<int64_t> dims = axes->dims;
  TensorMeta half = realTransform(signal, dims.back(), true);
  half.conj = true;
  return c.fresh(dims.size() == 1 ? half
                                  : complexTransform(half, dims.drop_back()));
}

/// irfftn, irfft2, hfftn, hfft2
static LogicalResult realForms(FakeCall &c) {
  FailureOr<Axes> axes = axesOf(c);
  if (failed(axes) || failed(needsDims(c, *axes)))
    return failure();
  int64_t last = axes->dims.back();
  Dims sizes = c.isNone(1) ? Dims() : c.dims(1);
  Dim n = sizes.empty() || sizes.back().is(-1)
              ? (c.tensor(0).sizes[last] - 1) * 2
              : sizes.back();
  if (failed(checkCount(c, n, last)))
    return failure();
  axes->sizes.back() = floorDiv(n, 2) + 1;
  FailureOr<TensorMeta> self = converted(c, true);
  if (failed(self) || failed(checkNorm(c, 3)))
    return failure();
  return c.fresh(inverseRealTransform(fitted(c, *self, *axes), axes->dims, n));
}

/// Moves the zero frequency to the middle: a roll along the dims.
static LogicalResult shift(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (!c.isNone(1) && c.dims(1).empty())
    return c.fail(FakeError::Other, c.schema().base + " needs a dim to shift");
  for (Dim d : c.isNone(1) ? Dims() : c.dims(1))
    if (failed(c.wrapIndex(d, self.rank())))
      return failure();
  TensorMeta out = TensorMeta::contiguous(self.dtype, self.sizes, c.device);
  if (c.device.kind == Device::Cpu)
    out.strides = followingStrides(self.sizes, self);
  return c.fresh(out);
}

ArrayRef<FakeRuleRow> fftFormsRules() {
  static const FakeRuleRow rows[] = {
      {"fft_fft.default", complexForm<false>},
      {"fft_fft2.default", complexForms},
      {"fft_fftn.default", complexForms},
      {"fft_fftshift.default", shift},
      {"fft_hfft.default", realForm},
      {"fft_hfft2.default", realForms},
      {"fft_hfftn.default", realForms},
      {"fft_ifft.default", complexForm<true>},
      {"fft_ifft2.default", complexForms},
      {"fft_ifftn.default", complexForms},
      {"fft_ifftshift.default", shift},
      {"fft_ihfft.default", halfForm<true>},
      {"fft_ihfft2.default", halfForms<true>},
      {"fft_ihfftn.default", halfForms<true>},
      {"fft_irfft.default", realForm},
      {"fft_irfft2.default", realForms},
      {"fft_irfftn.default", realForms},
      {"fft_rfft.default", halfForm<false>},
      {"fft_rfft2.default", halfForms<false>},
      {"fft_rfftn.default", halfForms<false>},
  };
  return rows;
}

} // namespace ft
