//===- Fft.cpp - Lowering of Fourier transforms ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of the kernel a dim. The forms of torch.fft are a conversion, a cut
// or a padding of the dims to the sizes asked for, and one of three transforms.
// The real one always comes where it saves most: first of those to a half
// spectrum, last of those from it.

#include "compiler/lower/rules/Fft.h"

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"
#include "dialects/ft/Promotion.h"
#include "runtime/kernels/scratch.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

#include <cmath>

using namespace mlir;

namespace ft {

using DimList = SmallVector<unsigned, 6>;

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

namespace {
/// One dim: `points` are transformed, `kept` of them are the result.
struct Line {
  unsigned dim;
  int64_t points, kept;
  DType dtype; // of the result
  bool inverse = false, conjugate = false;
  double scale = 1;
};
} // namespace

static LoweredTensor transformLine(LowerCall &c, LoweredTensor t,
                                   const Line &line) {
  Sizes sizes = t.sizes();
  sizes[line.dim] = line.kept;
  int64_t count = 1;
  for (auto [d, size] : llvm::enumerate(sizes))
    count *= d == line.dim ? 1 : size;
  int64_t bits = llvm::Log2_64(static_cast<uint64_t>(line.points)) + 1;
  return callKernel(c, "fft", t,
                    {Arg::integer(line.dim), Arg::integer(line.points),
                     Arg::truth(line.inverse), Arg::truth(line.conjugate),
                     Arg::floating(line.scale)},
                    {{sizes, line.dtype}},
                    scratchFor(count, 5 * line.points * bits,
                               ft_scratch_fft(line.points)))[0];
}

LoweredTensor complexTransform(LowerCall &c, LoweredTensor t,
                               ArrayRef<unsigned> dims, bool inverse,
                               double scale) {
  for (unsigned dim : dims) {
    int64_t n = t.sizes()[dim];
    t = transformLine(c, t, {dim, n, n, t.dtype, inverse, false, scale});
    scale = 1;
  }
  return t;
}

LoweredTensor realTransform(LowerCall &c, LoweredTensor t,
                            ArrayRef<unsigned> dims, int64_t points,
                            double scale) {
  unsigned last = dims.back();
  Line line{last, t.sizes()[last], points, toComplex(t.dtype)};
  line.scale = scale;
  return complexTransform(c, transformLine(c, t, line), dims.drop_back(),
                          /*inverse=*/false, 1);
}

LoweredTensor toRealTransform(LowerCall &c, LoweredTensor t,
                              ArrayRef<unsigned> dims, int64_t size,
                              bool inverse, double scale) {
  t = complexTransform(c, t, dims.drop_back(), inverse, 1);
  // A real signal's spectrum is mirrored: forward and inverse transforms of it
  // differ by conjugation of the half that is given.
  return transformLine(c, t,
                       {dims.back(), size, size, toReal(t.dtype),
                        /*inverse=*/true, /*conjugate=*/!inverse, scale});
}

double fftScale(FftNorm norm, ArrayRef<int64_t> sizes) {
  double count = 1;
  for (int64_t size : sizes)
    count *= static_cast<double>(size);
  switch (norm) {
  case FftNorm::None:
    return 1;
  case FftNorm::ByRoot:
    return 1 / std::sqrt(count);
  case FftNorm::ByCount:
    return 1 / count;
  }
  return 1;
}

//===----------------------------------------------------------------------===//
// _fft_c2c, _fft_r2c, _fft_c2r: (self, dim, normalization, …)
//===----------------------------------------------------------------------===//

static DimList dimsOf(LowerCall &c, unsigned arg) {
  DimList dims;
  for (int64_t d : c.integers(arg))
    dims.push_back(LowerCall::wrapDim(d, c.operand(0).rank()));
  return dims;
}

static double scaleOf(LowerCall &c, ArrayRef<int64_t> sizes,
                      ArrayRef<unsigned> dims) {
  Sizes signal;
  for (unsigned d : dims)
    signal.push_back(sizes[d]);
  return fftScale(static_cast<FftNorm>(c.integer(2)), signal);
}

static LogicalResult c2c(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  DimList dims = dimsOf(c, 1);
  c.setResult(
      0, complexTransform(c, t, dims, !c.flag(3), scaleOf(c, t.sizes(), dims)));
  return success();
}

static LogicalResult r2c(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  DimList dims = dimsOf(c, 1);
  int64_t points = staticSizes(c.resultMeta(0))[dims.back()];
  c.setResult(0,
              realTransform(c, t, dims, points, scaleOf(c, t.sizes(), dims)));
  return success();
}

static LogicalResult c2r(LowerCall &c) {
  DimList dims = dimsOf(c, 1);
  Sizes sizes = staticSizes(c.resultMeta(0));
  c.setResult(0, toRealTransform(c, c.operand(0), dims, sizes[dims.back()],
                                 /*inverse=*/true, scaleOf(c, sizes, dims)));
  return success();
}

//===----------------------------------------------------------------------===//
// torch.fft
//===----------------------------------------------------------------------===//

/// "backward" scales the inverse, "forward" the other direction.
static double namedScale(LowerCall &c, bool inverse, ArrayRef<int64_t> sizes) {
  StringRef norm = c.isNone(3) ? StringRef() : StringRef(c.call().args[3].str);
  if (norm == "ortho")
    return fftScale(FftNorm::ByRoot, sizes);
  bool scaled = (norm == "forward") != inverse;
  return fftScale(scaled ? FftNorm::ByCount : FftNorm::None, sizes);
}

/// Cut, or padded with zeros, to `sizes` along `dims`.
static LoweredTensor fitted(LowerCall &c, LoweredTensor t,
                            ArrayRef<unsigned> dims, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> low(t.rank(), 0), high(t.rank(), 0);
  bool pads = false;
  for (auto [d, size] : llvm::zip(dims, sizes)) {
    int64_t own = t.sizes()[d];
    if (size < own)
      t = c.slice(t, d, 0, size);
    high[d] = std::max<int64_t>(size - own, 0);
    pads |= size > own;
  }
  return pads ? c.pad(t, low, high, 0) : t;
}

namespace {
/// Dims and the number of points along each.
struct Axes {
  DimList dims;
  Sizes sizes;
};
} // namespace

/// (self, n, dim, norm), and (self, s, dim, norm) for several dims. `half`:
/// the last dim holds half of a mirrored spectrum.
static Axes axesOf(LowerCall &c, bool half) {
  Sizes own = c.operand(0).sizes();
  auto rank = static_cast<unsigned>(own.size());
  Axes axes;
  Sizes asked;
  bool single = c.call().args[2].kind == Arg::Int;
  if (single) {
    axes.dims.push_back(LowerCall::wrapDim(c.integer(2), rank));
    if (!c.isNone(1))
      asked.push_back(c.integer(1));
  } else {
    if (!c.isNone(1))
      asked = c.integers(1);
    if (!c.isNone(2))
      axes.dims = dimsOf(c, 2);
    else
      for (size_t d = c.isNone(1) ? 0 : rank - asked.size(); d < rank; ++d)
        axes.dims.push_back(static_cast<unsigned>(d));
  }
  for (auto [i, d] : llvm::enumerate(axes.dims)) {
    bool kept = i >= asked.size() || asked[i] == -1;
    bool isHalf = half && i + 1 == axes.dims.size();
    axes.sizes.push_back(kept ? (isHalf ? 2 * (own[d] - 1) : own[d])
                              : asked[i]);
  }
  return axes;
}

/// A dtype that can be transformed.
static LoweredTensor converted(LowerCall &c, LoweredTensor t, bool complex) {
  if (isComplex(t.dtype))
    return t;
  DType real = t.dtype == DType::F64 ? DType::F64 : DType::F32;
  return c.cast(t, complex ? toComplex(real) : real);
}

static LoweredTensor conjugated(LowerCall &c, LoweredTensor t) {
  return c.pointwise(t, t.sizes(), t.dtype, [](ScalarBuilder &s, ValueRange v) {
    return complex::ConjOp::create(s.b, s.loc, v[0]);
  });
}

/// fft, ifft, fft2, ifft2, fftn, ifftn
template <bool Inverse>
static LogicalResult toComplexForm(LowerCall &c) {
  Axes axes = axesOf(c, false);
  LoweredTensor t =
      fitted(c, converted(c, c.operand(0), true), axes.dims, axes.sizes);
  c.setResult(0, complexTransform(c, t, axes.dims, Inverse,
                                  namedScale(c, Inverse, axes.sizes)));
  return success();
}

/// rfft, rfft2, rfftn; ihfft, ihfft2, ihfftn
template <bool Inverse>
static LogicalResult toHalfForm(LowerCall &c) {
  Axes axes = axesOf(c, false);
  LoweredTensor t =
      fitted(c, converted(c, c.operand(0), false), axes.dims, axes.sizes);
  double scale = namedScale(c, Inverse, axes.sizes);
  int64_t points = axes.sizes.back() / 2 + 1;
  ArrayRef<unsigned> dims = axes.dims;
  if (!Inverse) {
    c.setResult(0, realTransform(c, t, dims, points, scale));
    return success();
  }
  t = conjugated(c, realTransform(c, t, dims.back(), points, scale));
  c.setResult(0, complexTransform(c, t, dims.drop_back(), true, 1));
  return success();
}

/// irfft, irfft2, irfftn; hfft, hfft2, hfftn
template <bool Inverse>
static LogicalResult toRealForm(LowerCall &c) {
  Axes axes = axesOf(c, true);
  Sizes given = axes.sizes;
  given.back() = given.back() / 2 + 1;
  LoweredTensor t =
      fitted(c, converted(c, c.operand(0), true), axes.dims, given);
  c.setResult(0, toRealTransform(c, t, axes.dims, axes.sizes.back(), Inverse,
                                 namedScale(c, Inverse, axes.sizes)));
  return success();
}

/// A roll by half of each dim: its zero frequency goes to the middle, or back.
template <bool Inverse>
static LogicalResult shift(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  Sizes sizes = t.sizes();
  SmallVector<bool> rolled(sizes.size(), c.isNone(1));
  if (!c.isNone(1))
    for (unsigned d : dimsOf(c, 1))
      rolled[d] = true;
  // result[i] = t[(i + from) mod size]
  c.setResult(
      0, generate(c, sizes, t.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        SmallVector<Value> from(at);
        for (auto [d, size] : llvm::enumerate(sizes)) {
          int64_t by = Inverse ? size / 2 : (size + 1) / 2;
          if (!rolled[d] || size < 2)
            continue;
          Type type = at[d].getType();
          Value moved = s.add(at[d], s.constantInt(type, by));
          Value back = s.sub(moved, s.constantInt(type, size));
          from[d] = s.select(
              s.cmp(ScalarBuilder::Cmp::Ge, back, s.constantInt(type, 0)), back,
              moved);
        }
        return readAt(s, t, from);
      }));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"_fft_c2c.default", c2c},
    {"_fft_c2r.default", c2r},
    {"_fft_r2c.default", r2c},
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
};

ArrayRef<LowerRuleRow> fftLowerRules() { return kRows; }

} // namespace ft
