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

static FailureOr<DimList> signalDims(FakeCall &c) {
  if (c.tensor(0).sizes.empty() && c.length(1))
    return c.fail(FakeError::Dim, "a tensor without dims has no signal");
  return c.wrapDims(1, c.tensor(0).rank(), /*emptyIsAll=*/false);
}

static LogicalResult result(FakeCall &c, DType dtype, Dims sizes,
                            Dims strides) {
  TensorMeta out;
  out.dtype = dtype;
  out.device = c.device;
  out.sizes = std::move(sizes);
  out.strides = std::move(strides);
  return c.fresh(std::move(out));
}

static LogicalResult c2c(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<DimList> dims = signalDims(c);
  if (failed(dims))
    return failure();
  if (!isComplex(self.dtype))
    return c.fail(FakeError::Other, "_fft_c2c needs a complex dtype, not " +
                                        dtypeName(self.dtype));
  if (dims->empty())
    return result(c, self.dtype, self.sizes, likeStrides(self));
  return result(c, self.dtype, self.sizes,
                transformed(self, byStride(self, *dims, false), self.sizes));
}

static LogicalResult r2c(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<DimList> dims = signalDims(c);
  if (failed(dims))
    return failure();
  if (!isFloating(self.dtype))
    return c.fail(FakeError::Other, "_fft_r2c needs a floating dtype, not " +
                                        dtypeName(self.dtype));
  if (dims->empty())
    return c.fail(FakeError::Other, "_fft_r2c needs a dim to transform");
  Dims sizes = self.sizes;
  // The other half of a real signal's spectrum mirrors the first.
  if (c.flag(3))
    sizes[dims->back()] = floorDiv(sizes[dims->back()], 2) + 1;
  // cuFFT does up to three dims at once, unless they are the outer two.
  bool outer = dims->size() >= 2 && (*dims)[0] == 0 && (*dims)[1] == 1;
  if (c.device.kind == Device::Cpu || !outer)
    return result(c, toComplex(self.dtype), sizes,
                  transformed(self, byStride(self, *dims, true), sizes));
  // CUDA transforms the last dim, then the others as complex signals.
  TensorMeta half = self;
  half.strides = transformed(self, dims->back(), sizes);
  half.sizes = sizes;
  DimList rest(dims->begin(), dims->end() - 1);
  return result(c, toComplex(self.dtype), sizes,
                transformed(half, byStride(half, rest, false), sizes));
}

static LogicalResult c2r(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<DimList> dims = signalDims(c);
  if (failed(dims))
    return failure();
  if (!isComplex(self.dtype))
    return c.fail(FakeError::Other, "_fft_c2r needs a complex dtype, not " +
                                        dtypeName(self.dtype));
  if (dims->empty())
    return c.fail(FakeError::Other, "_fft_c2r needs a dim to transform");
  if (dims->size() > 1)
    for (int64_t d : *dims)
      if (self.sizes[d].is(0))
        return c.fail(FakeError::Shape, "a dim of size 0, dim " + Twine(d) +
                                            " of " + self.str() +
                                            ", cannot be transformed");
  // All dims but the last are complex transforms that come first.
  TensorMeta middle = self;
  DimList first(dims->begin(), dims->end() - 1);
  if (!first.empty())
    middle.strides =
        transformed(self, byStride(self, first, false), self.sizes);
  Dims sizes = self.sizes;
  sizes[dims->back()] = c.dim(3);
  Dims strides = transformed(middle, dims->back(), sizes);
  return result(c, toReal(self.dtype), sizes, strides);
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
