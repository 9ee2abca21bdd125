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
#include "compiler/lower/rules/Scratch.h"
#include "dialects/ft/Promotion.h"

#include "mlir/Dialect/Complex/IR/Complex.h"

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
  Dim points, kept;
  DType dtype; // of the result
  bool inverse = false, conjugate = false;
  FftScale scale = {};
};
} // namespace

static LoweredTensor transformLine(LowerCall &c, LoweredTensor t,
                                   const Line &line) {
  Sizes sizes = t.dims();
  sizes[line.dim] = line.kept;
  Dim count = 1;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (d != line.dim)
      count = count * size;
  Dim n = line.points, work = n, scratch = ft_scratch_any_fft(n);
  if (n.isStatic()) {
    work = n * Dim(llvm::Log2_64(static_cast<uint64_t>(n.value())) + 1);
    scratch = ft_scratch_fft(n.value());
  }
  return callKernel(c, "fft", t,
                    {Arg::integer(line.dim), Arg::integer(n),
                     Arg::truth(line.inverse), Arg::truth(line.conjugate),
                     Arg::integer(static_cast<int64_t>(line.scale.norm)),
                     Arg::integer(line.scale.count)},
                    {{sizes, line.dtype}},
                    scratchFor(count, 5 * work, scratch))[0];
}

LoweredTensor complexTransform(LowerCall &c, LoweredTensor t,
                               ArrayRef<unsigned> dims, bool inverse,
                               FftScale scale) {
  for (unsigned dim : dims) {
    Dim n = t.dims()[dim];
    t = transformLine(c, t, {dim, n, n, t.dtype, inverse, false, scale});
    scale = {};
  }
  return t;
}

LoweredTensor realTransform(LowerCall &c, LoweredTensor t,
                            ArrayRef<unsigned> dims, Dim points,
                            FftScale scale) {
  unsigned last = dims.back();
  Line line{last, t.dims()[last], points, toComplex(t.dtype)};
  line.scale = scale;
  return complexTransform(c, transformLine(c, t, line), dims.drop_back(),
                          /*inverse=*/false, {});
}

LoweredTensor toRealTransform(LowerCall &c, LoweredTensor t,
                              ArrayRef<unsigned> dims, Dim size, bool inverse,
                              FftScale scale) {
  t = complexTransform(c, t, dims.drop_back(), inverse, {});
  // A real signal's spectrum is mirrored: forward and inverse transforms of it
  // differ by conjugation of the half that is given.
  return transformLine(c, t,
                       {dims.back(), size, size, toReal(t.dtype),
                        /*inverse=*/true, /*conjugate=*/!inverse, scale});
}

FftScale fftScale(FftNorm norm, ArrayRef<Dim> sizes) {
  return {norm, norm == FftNorm::None ? Dim(1) : product(sizes)};
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

static FftScale scaleOf(LowerCall &c, ArrayRef<Dim> sizes,
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
      0, complexTransform(c, t, dims, !c.flag(3), scaleOf(c, t.dims(), dims)));
  return success();
}

static LogicalResult r2c(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  DimList dims = dimsOf(c, 1);
  Dim points = ft::dimsOf(c.resultMeta(0))[dims.back()];
  c.setResult(0, realTransform(c, t, dims, points, scaleOf(c, t.dims(), dims)));
  return success();
}

static LogicalResult c2r(LowerCall &c) {
  DimList dims = dimsOf(c, 1);
  Sizes sizes = ft::dimsOf(c.resultMeta(0));
  c.setResult(0, toRealTransform(c, c.operand(0), dims, sizes[dims.back()],
                                 /*inverse=*/true, scaleOf(c, sizes, dims)));
  return success();
}

//===----------------------------------------------------------------------===//
// torch.fft
//===----------------------------------------------------------------------===//

/// "backward" scales the inverse, "forward" the other direction.
static FftScale namedScale(LowerCall &c, bool inverse, ArrayRef<Dim> sizes) {
  StringRef norm = c.isNone(3) ? StringRef() : StringRef(c.call().args[3].str);
  if (norm == "ortho")
    return fftScale(FftNorm::ByRoot, sizes);
  bool scaled = (norm == "forward") != inverse;
  return fftScale(scaled ? FftNorm::ByCount : FftNorm::None, sizes);
}

/// Cut, or padded with zeros, to `sizes` along `dims`.
static LoweredTensor fitted(LowerCall &c, LoweredTensor t,
                            ArrayRef<unsigned> dims, ArrayRef<Dim> sizes) {
  Dims low(t.rank(), 0), high(t.rank(), 0);
  for (auto [d, size] : llvm::zip(dims, sizes)) {
    Dim own = t.dims()[d], kept = minDim(size, own);
    t = c.slice(t, d, 0, kept);
    high[d] = size - kept;
  }
  return c.pad(t, low, high, 0);
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
  Sizes own = c.operand(0).dims();
  auto rank = static_cast<unsigned>(own.size());
  Axes axes;
  Sizes asked;
  bool single = c.call().args[2].kind == Arg::Int;
  if (single) {
    axes.dims.push_back(LowerCall::wrapDim(c.integer(2), rank));
    if (!c.isNone(1))
      asked.push_back(c.dimArg(1));
  } else {
    if (!c.isNone(1))
      asked = c.dimsArg(1);
    if (!c.isNone(2))
      axes.dims = dimsOf(c, 2);
    else
      for (size_t d = c.isNone(1) ? 0 : rank - asked.size(); d < rank; ++d)
        axes.dims.push_back(static_cast<unsigned>(d));
  }
  for (auto [i, d] : llvm::enumerate(axes.dims)) {
    bool kept = i >= asked.size() || asked[i] == -1;
    bool isHalf = half && i + 1 == axes.dims.size();
    axes.sizes.push_back(kept ? (isHalf ? Dim(2) * (own[d] - 1) : own[d])
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
  return c.pointwise(t, t.dims(), t.dtype, [](ScalarBuilder &s, ValueRange v) {
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
  FftScale scale = namedScale(c, Inverse, axes.sizes);
  Dim points = floorDiv(axes.sizes.back(), 2) + 1;
  ArrayRef<unsigned> dims = axes.dims;
  if (!Inverse) {
    c.setResult(0, realTransform(c, t, dims, points, scale));
    return success();
  }
  t = conjugated(c, realTransform(c, t, dims.back(), points, scale));
  c.setResult(0, complexTransform(c, t, dims.drop_back(), true, {}));
  return success();
}

/// irfft, irfft2, irfftn; hfft, hfft2, hfftn
template <bool Inverse>
static LogicalResult toRealForm(LowerCall &c) {
  Axes axes = axesOf(c, true);
  Sizes given = axes.sizes;
  given.back() = floorDiv(given.back(), 2) + 1;
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
  Sizes sizes = t.dims();
  SmallVector<bool> rolled(sizes.size(), c.isNone(1));
  if (!c.isNone(1))
    for (unsigned d : dimsOf(c, 1))
      rolled[d] = true;
  // result[i] = t[(i + from) mod size]
  c.setResult(
      0, generate(c, sizes, t.dtype, [&](ScalarBuilder &s, ArrayRef<Value> at) {
        SmallVector<Value> from(at);
        for (auto [d, size] : llvm::enumerate(sizes)) {
          Dim by = Inverse ? floorDiv(size, 2) : ceilDiv(size, 2);
          if (!rolled[d] || (size.isStatic() && size.value() < 2))
            continue;
          Type type = at[d].getType();
          Value moved = s.add(at[d], sizeIndex(c, s, by));
          Value back = s.sub(moved, sizeIndex(c, s, size));
          from[d] = s.select(
              s.cmp(ScalarBuilder::Cmp::Ge, back, s.constantInt(type, 0)), back,
              moved);
        }
        return readAt(s, t, from);
      }));
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_fft_c2c.default", c2c),
    anyShape("_fft_c2r.default", c2r),
    anyShape("_fft_r2c.default", r2c),
    anyShape("fft_fft.default", toComplexForm<false>),
    anyShape("fft_fft2.default", toComplexForm<false>),
    anyShape("fft_fftn.default", toComplexForm<false>),
    anyShape("fft_fftshift.default", shift<false>),
    anyShape("fft_hfft.default", toRealForm<false>),
    anyShape("fft_hfft2.default", toRealForm<false>),
    anyShape("fft_hfftn.default", toRealForm<false>),
    anyShape("fft_ifft.default", toComplexForm<true>),
    anyShape("fft_ifft2.default", toComplexForm<true>),
    anyShape("fft_ifftn.default", toComplexForm<true>),
    anyShape("fft_ifftshift.default", shift<true>),
    anyShape("fft_ihfft.default", toHalfForm<true>),
    anyShape("fft_ihfft2.default", toHalfForm<true>),
    anyShape("fft_ihfftn.default", toHalfForm<true>),
    anyShape("fft_irfft.default", toRealForm<true>),
    anyShape("fft_irfft2.default", toRealForm<true>),
    anyShape("fft_irfftn.default", toRealForm<true>),
    anyShape("fft_rfft.default", toHalfForm<false>),
    anyShape("fft_rfft2.default", toHalfForm<false>),
    anyShape("fft_rfftn.default", toHalfForm<false>),
};

ArrayRef<LowerRuleRow> fftLowerRules() { return kRows; }

} // namespace ft
