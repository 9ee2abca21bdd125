//===- Stft.cpp - Spectra of overlapping frames ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stft sees a signal as overlapping frames, multiplies each by the window and
// transforms it; istft adds the frames up again.
//
//   stft(f32 [2, 64], n_fft=16, hop=8): 1 + (64 - 16) / 8 = 7 frames of 16
//   samples, complex64 [2, 9, 7] strides [63, 1, 9]

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/FftRules.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

namespace {
/// What both directions are told of the frames.
struct Frames {
  /// Samples in a frame, and from one frame to the next.
  Dim size, hop;
  const TensorMeta *window = nullptr;
  Dim windowSize;
};
} // namespace

/// Arguments 1 to 4: (n_fft, hop_length, win_length, window).
static FailureOr<Frames> framesOf(FakeCall &c) {
  StringRef base = c.schema().base;
  Frames f;
  f.size = c.dim(1);
  f.windowSize = c.isNone(3) ? f.size : c.dim(3);
  f.hop = c.isNone(2) ? floorDiv(f.size, 4) : c.dim(2);
  f.window = c.optTensor(4);
  if (c.lt(f.size, 1))
    return c.fail(FakeError::Other,
                  base + "'s n_fft must be at least 1, not " + f.size.str());
  if (c.lt(f.hop, 1))
    return c.fail(FakeError::Other,
                  base + "'s hop_length must be at least 1, not " +
                      f.hop.str());
  if (c.lt(f.windowSize, 1) || c.lt(f.size, f.windowSize))
    return c.fail(FakeError::Other, base + "'s win_length must be from 1 to " +
                                        f.size.str() + ", not " +
                                        f.windowSize.str());
  if (f.window &&
      (f.window->rank() != 1 || !c.mustEq(f.window->sizes[0], f.windowSize)))
    return c.fail(FakeError::Other, base + "'s window must have size [" +
                                        f.windowSize.str() + "], it is " +
                                        f.window->str());
  return f;
}

/// `signal` [batch, length] with n_fft / 2 samples more at both ends.
static LogicalResult centered(FakeCall &c, const Frames &frames, StringRef mode,
                              TensorMeta &signal) {
  Dim pad = floorDiv(frames.size, 2), length = signal.sizes[1];
  if (mode != "reflect" && mode != "constant" && mode != "replicate" &&
      mode != "circular")
    return c.fail(FakeError::Other,
                  "stft does not know the pad_mode '" + mode + "'");
  if ((mode == "reflect" && c.le(length, pad)) ||
      (mode == "circular" && c.lt(length, pad)) ||
      (mode == "replicate" && c.lt(length, 1)))
    return c.fail(FakeError::Other, "padding of " + pad.str() + " (" + mode +
                                        ") is too large for a signal of " +
                                        length.str() + " samples");
  if (c.isEmpty(signal.sizes[0]))
    return c.fail(FakeError::Other, "a batch of no signals, dim 0 of " +
                                        signal.str() + ", cannot be padded");
  signal = TensorMeta::contiguous(
      signal.dtype, {signal.sizes[0], length + pad * 2}, signal.device);
  return success();
}

/// (self, n_fft, hop_length, win_length, window, [center, pad_mode,]
/// normalized, onesided, return_complex, align_to_window)
template <bool Center>
static LogicalResult stft(FakeCall &c) {
  constexpr unsigned kOnesided = Center ? 8 : 6;
  TensorMeta signal = c.tensor(0);
  if (isIntegral(signal.dtype))
    return c.fail(FakeError::Other,
                  "stft needs a floating or complex signal, not " +
                      dtypeName(signal.dtype));
  if (signal.rank() != 1 && signal.rank() != 2)
    return c.fail(FakeError::Other, "stft needs a signal of 1 or 2 dims, it "
                                    "has " +
                                        Twine(signal.rank()));
  FailureOr<Frames> frames = framesOf(c);
  if (failed(frames))
    return failure();
  bool batched = signal.rank() == 2;
  if (!batched) {
    signal.strides.insert(signal.strides.begin(),
                          signal.sizes[0] * signal.strides[0]);
    signal.sizes.insert(signal.sizes.begin(), Dim(1));
  }
  signal.device = c.device;
  signal.conj = signal.neg = false;
  if (!c.isNone(kOnesided + 2) &&
      ((Center && c.flag(5)) || c.flag(kOnesided + 2)))
    return c.fail(FakeError::Unsupported,
                  "stft's align_to_window is not supported");
  if (Center && c.flag(5) && failed(centered(c, *frames, c.text(6), signal)))
    return failure();
  Dim length = signal.sizes[1];
  if (c.lt(length, frames->size))
    return c.fail(FakeError::Other, "stft's n_fft is " + frames->size.str() +
                                        ", the signal has " + length.str() +
                                        " samples");

  Dim count = floorDiv(length - frames->size, frames->hop) + 1;
  TensorMeta framed = signal;
  framed.sizes = {signal.sizes[0], count, frames->size};
  framed.strides = {signal.strides[0], signal.strides[1] * frames->hop,
                    signal.strides[1]};
  if (frames->window || !c.eq(frames->windowSize, frames->size)) {
    TensorMeta window = TensorMeta::contiguous(
        frames->window ? frames->window->dtype : signal.dtype, frames->size,
        c.device);
    std::optional<DType> dtype = promoteTypes(signal.dtype, window.dtype);
    if (!dtype)
      return c.fail(FakeError::Dtype, "a signal of " + dtypeName(signal.dtype) +
                                          " and a window of " +
                                          dtypeName(window.dtype) +
                                          " have no common dtype");
    framed.strides = elementwiseStrides({&framed, &window}, framed.sizes);
    framed.dtype = *dtype;
  }
  bool complex = isComplex(framed.dtype);
  bool onesided = c.isNone(kOnesided) ? !complex : c.flag(kOnesided);
  if (onesided && complex)
    return c.fail(FakeError::Other, "a complex signal or window has no "
                                    "onesided spectrum");
  if (c.isNone(kOnesided + 1) && !complex)
    return c.fail(FakeError::Other,
                  "stft of a real signal must be told return_complex");
  FailureOr<DType> computed = transformDType(c, framed.dtype, false);
  if (failed(computed))
    return failure();
  if (*computed != framed.dtype)
    return c.fail(FakeError::Other,
                  "stft is not defined for " + dtypeName(framed.dtype));

  TensorMeta out = complex ? complexTransform(framed, 2)
                           : realTransform(framed, 2, onesided);
  std::swap(out.sizes[1], out.sizes[2]);
  std::swap(out.strides[1], out.strides[2]);
  if (!batched) {
    out.sizes.erase(out.sizes.begin());
    out.strides.erase(out.strides.begin());
  }
  if (c.isNone(kOnesided + 1) || c.flag(kOnesided + 1))
    return c.fresh(std::move(out));
  // Real and imaginary parts side by side.
  out.dtype = toReal(out.dtype);
  for (Dim &stride : out.strides)
    stride = stride * 2;
  out.sizes.push_back(2);
  out.strides.push_back(1);
  return c.fresh(std::move(out));
}

/// (self, n_fft, hop_length, win_length, window, center, normalized, onesided,
/// length, return_complex)
static LogicalResult istft(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (!isComplex(self.dtype))
    return c.fail(FakeError::Other, "istft needs a complex spectrum, not " +
                                        dtypeName(self.dtype));
  if (self.rank() != 2 && self.rank() != 3)
    return c.fail(FakeError::Other, "istft needs a spectrum of 2 or 3 dims, "
                                    "it has " +
                                        Twine(self.rank()));
  for (auto [d, size] : enumerate(self.sizes))
    if (c.isEmpty(size))
      return c.fail(FakeError::Other, "istft of nothing: dim " + Twine(d) +
                                          " of " + c.show(self) + " is 0");
  FailureOr<Frames> frames = framesOf(c);
  if (failed(frames))
    return failure();
  bool complex = c.flag(9), center = c.flag(5);
  Dim bins = self.sizes[self.rank() - 2], count = self.sizes.back();
  bool onesided = c.isNone(7) ? !c.eq(bins, frames->size) : c.flag(7);
  Dim wanted = onesided ? floorDiv(frames->size, 2) + 1 : frames->size;
  if (!c.mustEq(bins, wanted))
    return c.fail(FakeError::Other,
                  "istft with n_fft " + frames->size.str() + " needs " +
                      wanted.str() + " frequencies at dim " +
                      Twine(self.rank() - 2) + ", not " + bins.str());
  if (complex && onesided)
    return c.fail(FakeError::Other,
                  "a onesided spectrum has no complex signal");
  if (!complex && frames->window && isComplex(frames->window->dtype))
    return c.fail(FakeError::Other, "a complex window, of " +
                                        dtypeName(frames->window->dtype) +
                                        ", needs return_complex");
  DType dtype = complex ? self.dtype : toReal(self.dtype);
  if (frames->window)
    dtype = promoteTypes(dtype, frames->window->dtype).value_or(dtype);

  Dim total = frames->size + frames->hop * (count - 1);
  Dim start = center ? floorDiv(frames->size, 2) : Dim(0);
  Dim length =
      c.isNone(8) ? (center ? total - start - start : total) : c.dim(8);
  if (c.lt(length, 1) || c.le(total, start))
    return c.fail(FakeError::Other, "istft of " + count.str() +
                                        " frames leaves a signal of " +
                                        length.str() + " samples");
  Dims sizes;
  if (self.rank() == 3)
    sizes.push_back(self.sizes[0]);
  sizes.push_back(length);
  return c.fresh(TensorMeta::contiguous(dtype, sizes, c.device));
}

ArrayRef<FakeRuleRow> stftRules() {
  static const FakeRuleRow rows[] = {
      {"istft.default", istft},
      {"stft.center", stft<true>},
      {"stft.default", stft<false>},
  };
  return rows;
}

} // namespace ft
