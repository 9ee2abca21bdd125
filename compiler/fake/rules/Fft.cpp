//===- Fft.cpp - Fourier transforms ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The transform runs on a batch of row-major signals: the other dims, by
// falling stride, then the transformed ones. The result stays laid out so.
//
//   [5, 6, 4] strides [24, 4, 1] over dims 0 and 1: 4 signals of 5 × 6,
//   strides [6, 1, 30]

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/FftRules.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

using DimList = SmallVector<int64_t, 6>;

/// Dims by falling stride, the last one left where it is if `keepLast`.
static DimList byStride(const TensorMeta &t, DimList dims, bool keepLast) {
  auto end = dims.end() - (keepLast && !dims.empty());
  std::sort(dims.begin(), end, [&](int64_t a, int64_t b) {
    return t.strides[a].isStatic() && t.strides[b].isStatic() &&
           t.strides[a].value() > t.strides[b].value();
  });
  return dims;
}

/// The layout after transforming `t` along `dims` into `sizes`.
static Dims transformed(const TensorMeta &t, ArrayRef<int64_t> dims,
                        ArrayRef<Dim> sizes) {
  DimList rest;
  for (int64_t d = 0; d < t.rank(); ++d)
    if (!is_contained(dims, d))
      rest.push_back(d);
  DimList order = byStride(t, rest, false);
  order.append(dims.begin(), dims.end());
  return denseStrides(sizes, order);
}

static TensorMeta spectrum(const TensorMeta &like, DType dtype, Dims sizes,
                           Dims strides) {
  TensorMeta out;
  out.dtype = dtype;
  out.device = like.device;
  out.sizes = std::move(sizes);
  out.strides = std::move(strides);
  return out;
}

TensorMeta complexTransform(const TensorMeta &t, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return spectrum(t, t.dtype, t.sizes, likeStrides(t));
  DimList order = byStride(t, DimList(dims), false);
  return spectrum(t, t.dtype, t.sizes, transformed(t, order, t.sizes));
}

TensorMeta realTransform(const TensorMeta &t, ArrayRef<int64_t> dims,
                         bool onesided) {
  Dims sizes = t.sizes;
  // The other half of a real signal's spectrum mirrors the first.
  if (onesided)
    sizes[dims.back()] = floorDiv(sizes[dims.back()], 2) + 1;
  DType dtype = toComplex(t.dtype);
  // cuFFT does up to three dims at once, unless they are the outer two.
  bool outer = dims.size() >= 2 && dims[0] == 0 && dims[1] == 1;
  if (t.device.kind == Device::Cpu || !outer) {
    DimList order = byStride(t, DimList(dims), true);
    return spectrum(t, dtype, sizes, transformed(t, order, sizes));
  }
  // CUDA transforms the last dim, then the others as complex signals.
  TensorMeta half = t;
  half.strides = transformed(t, dims.back(), sizes);
  half.sizes = sizes;
  DimList rest = byStride(half, DimList(dims.drop_back()), false);
  return spectrum(t, dtype, sizes, transformed(half, rest, sizes));
}

TensorMeta inverseRealTransform(const TensorMeta &t, ArrayRef<int64_t> dims,
                                Dim lastSize) {
  // All dims but the last are complex transforms that come first.
  TensorMeta middle = t;
  if (dims.size() > 1)
    middle = complexTransform(t, dims.drop_back());
  Dims sizes = t.sizes;
  sizes[dims.back()] = lastSize;
  Dims strides = transformed(middle, dims.back(), sizes);
  return spectrum(t, toReal(t.dtype), sizes, strides);
}

/// The dims of argument 1, of a tensor whose dtype is one that `accepts`.
static FailureOr<DimList> signalDims(FakeCall &c, bool (*accepts)(DType),
                                     StringRef what) {
  const TensorMeta &self = c.tensor(0);
  if (self.sizes.empty() && c.length(1))
    return c.fail(FakeError::Dim, "a tensor without dims has no signal");
  FailureOr<DimList> dims = c.wrapDims(1, self.rank(), /*emptyIsAll=*/false);
  if (failed(dims))
    return failure();
  if (!accepts(self.dtype))
    return c.fail(FakeError::Other, c.schema().base + " needs a " + what +
                                        " dtype, not " + dtypeName(self.dtype));
  return dims;
}

static LogicalResult c2c(FakeCall &c) {
  FailureOr<DimList> dims = signalDims(c, isComplex, "complex");
  if (failed(dims))
    return failure();
  TensorMeta self = c.tensor(0);
  self.device = c.device;
  return c.fresh(complexTransform(self, *dims));
}

static LogicalResult r2c(FakeCall &c) {
  FailureOr<DimList> dims = signalDims(c, isFloating, "floating");
  if (failed(dims))
    return failure();
  if (dims->empty())
    return c.fail(FakeError::Other, "_fft_r2c needs a dim to transform");
  TensorMeta self = c.tensor(0);
  self.device = c.device;
  return c.fresh(realTransform(self, *dims, c.flag(3)));
}

static LogicalResult c2r(FakeCall &c) {
  FailureOr<DimList> dims = signalDims(c, isComplex, "complex");
  if (failed(dims))
    return failure();
  TensorMeta self = c.tensor(0);
  self.device = c.device;
  if (dims->empty())
    return c.fail(FakeError::Other, "_fft_c2r needs a dim to transform");
  if (dims->size() > 1)
    for (int64_t d : *dims)
      if (c.isEmpty(self.sizes[d]))
        return c.fail(FakeError::Shape, "a dim of size 0, dim " + Twine(d) +
                                            " of " + c.show(self) +
                                            ", cannot be transformed");
  return c.fresh(inverseRealTransform(self, *dims, c.dim(3)));
}

ArrayRef<FakeRuleRow> fftRules() {
  static const FakeRuleRow rows[] = {
      {"_fft_c2c.default", c2c},
      {"_fft_c2r.default", c2r},
      {"_fft_r2c.default", r2c},
  };
  return rows;
}

} // namespace ft
