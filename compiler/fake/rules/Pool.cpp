//===- Pool.cpp - Pooling --------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All pools work on the last N dims; a batch dim in front is optional. Results
// are channels last where the input suggests it, row-major otherwise.

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static LogicalResult needsDims(FakeCall &c, const TensorMeta &self,
                               int64_t spatial) {
  if (self.rank() == spatial + 1 || self.rank() == spatial + 2)
    return success();
  return c.fail(FakeError::Dim,
                c.schema().base + " needs " + Twine(spatial + 1) + " or " +
                    Twine(spatial + 2) + " dims, " + c.nameOf(&self) + " has " +
                    Twine(self.rank()));
}

/// Apart from the batch, no dim may be empty.
static LogicalResult needsElements(FakeCall &c, const TensorMeta &self,
                                   int64_t spatial) {
  for (int64_t d = self.rank() - spatial - 1; d < self.rank(); ++d)
    if (c.isEmpty(self.sizes[d]))
      return c.fail(FakeError::Shape, c.schema().base +
                                          " needs a tensor without empty dims "
                                          "apart from the batch, not " +
                                          c.show(self));
  return success();
}

/// A list with one entry per spatial dim; one entry stands for all, none for
/// `otherwise`.
static FailureOr<Dims> perDim(FakeCall &c, unsigned arg, int64_t spatial,
                              const Dims *otherwise = nullptr) {
  Dims list = c.dims(arg);
  if (list.empty() && otherwise)
    return *otherwise;
  if (list.size() == 1)
    list.assign(spatial, Dim(list.front()));
  if (static_cast<int64_t>(list.size()) == spatial)
    return list;
  return c.fail(FakeError::Dim, "'" + c.schema().args[arg].name + "' has " +
                                    Twine(list.size()) + " entries for " +
                                    Twine(spatial) + " dims");
}

namespace {
struct Windows {
  Dims kernel, stride, padding, dilation;
  bool ceilMode = false;
};
} // namespace

/// The number of windows along one dim. With `ceil_mode` the last one may hang
/// over the end, but must begin inside the input or its left padding.
static FailureOr<Dim> windowCount(FakeCall &c, const Windows &w, int64_t i,
                                  Dim size) {
  Dim kernel = w.kernel[i], stride = w.stride[i], pad = w.padding[i];
  Dim dilation = w.dilation[i];
  if (c.lt(kernel, 1) || c.lt(stride, 1) || c.lt(dilation, 1))
    return c.fail(FakeError::Other, "kernel, stride and dilation must be "
                                    "positive, they are " +
                                        kernel.str() + ", " + stride.str() +
                                        ", " + dilation.str());
  if (c.lt(pad, 0) || c.lt(floorDiv((kernel - 1) * dilation + 1, 2), pad))
    return c.fail(FakeError::Dim,
                  "padding " + pad.str() + " of spatial dim " + Twine(i) +
                      " must be at most half of the kernel " + kernel.str());
  Dim span = size + pad * 2 - dilation * (kernel - 1) - 1;
  Dim count = (w.ceilMode ? ceilDiv(span, stride) : floorDiv(span, stride)) + 1;
  if (w.ceilMode && c.le(size + pad, (count - 1) * stride))
    count = count - 1;
  if (c.lt(count, 1))
    return c.fail(FakeError::Shape,
                  "a window that spans " + (dilation * (kernel - 1) + 1).str() +
                      " does not fit spatial dim " + Twine(i) + " of size " +
                      size.str() + " padded by " + pad.str());
  return count;
}

static FailureOr<Dims> pooledSizes(FakeCall &c, const TensorMeta &self,
                                   const Windows &w) {
  auto spatial = static_cast<int64_t>(w.kernel.size());
  if (failed(needsDims(c, self, spatial)) ||
      failed(needsElements(c, self, spatial)))
    return failure();
  Dims sizes = self.sizes;
  for (int64_t i = 0; i < spatial; ++i) {
    Dim &size = sizes[self.rank() - spatial + i];
    FailureOr<Dim> count = windowCount(c, w, i, size);
    if (failed(count))
      return failure();
    size = *count;
  }
  return sizes;
}

/// The arguments kernel_size, stride, padding[, dilation], ceil_mode from
/// `first` on.
static FailureOr<Windows> windows(FakeCall &c, unsigned first, int64_t spatial,
                                  bool dilated) {
  Windows w;
  FailureOr<Dims> kernel = perDim(c, first, spatial);
  if (failed(kernel))
    return failure();
  w.kernel = *kernel;
  FailureOr<Dims> stride = perDim(c, first + 1, spatial, &w.kernel);
  FailureOr<Dims> padding = perDim(c, first + 2, spatial);
  if (failed(stride) || failed(padding))
    return failure();
  w.stride = *stride;
  w.padding = *padding;
  w.dilation.assign(spatial, Dim(1));
  if (dilated) {
    FailureOr<Dims> dilation = perDim(c, first + 3, spatial);
    if (failed(dilation))
      return failure();
    w.dilation = *dilation;
  }
  w.ceilMode = c.flag(first + 3 + dilated);
  return w;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Whether 5-dim results follow channels last as well differs between pools.
static LogicalResult pooled(FakeCall &c, const TensorMeta &self, Dims sizes,
                            DType dtype, bool follow3d = true) {
  TensorMeta out = TensorMeta::contiguous(dtype, sizes, c.device);
  if (sizes.size() == 4 || (sizes.size() == 5 && follow3d))
    out.strides = followingStrides(sizes, self);
  return c.fresh(std::move(out));
}

template <int64_t N, bool Indices>
static LogicalResult maxPool(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<Windows> w = windows(c, 1, N, /*dilated=*/true);
  if (failed(w))
    return failure();
  FailureOr<Dims> sizes = pooledSizes(c, self, *w);
  if (failed(sizes) || failed(pooled(c, self, *sizes, self.dtype)))
    return failure();
  return Indices ? pooled(c, self, *sizes, DType::I64) : success();
}

template <int64_t N>
static LogicalResult avgPool(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  FailureOr<Windows> w = windows(c, 1, N, /*dilated=*/false);
  if (failed(w))
    return failure();
  if (N > 1 && c.arg(6).kind == Arg::Int && c.dim(6).is(0))
    return c.fail(FakeError::Other, "divisor_override must not be 0");
  FailureOr<Dims> sizes = pooledSizes(c, self, *w);
  return failed(sizes)
             ? failure()
             : pooled(c, self, *sizes, self.dtype, /*follow3d=*/false);
}

/// (grad, self, kernel, stride, padding[, dilation], ceil_mode, …)
template <int64_t N, bool Max>
static LogicalResult poolBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &self = c.tensor(1);
  FailureOr<Windows> w = windows(c, 2, N, /*dilated=*/Max);
  if (failed(w))
    return failure();
  FailureOr<Dims> sizes = pooledSizes(c, self, *w);
  if (failed(sizes))
    return failure();
  if (!c.sameSizes(*sizes, grad.sizes))
    return c.fail(FakeError::Dim,
                  "the gradient " + c.show(grad) +
                      " does not have the size of the pool's result, " +
                      dimsText(*sizes) + unlike(grad.sizes, *sizes));
  if (Max && N == 2 && grad.dtype != self.dtype)
    return c.fail(FakeError::Dtype, "the gradient is " + dtypeName(grad.dtype) +
                                        ", the input " + dtypeName(self.dtype));
  if (Max && !c.sameSizes(*sizes, c.tensor(7).sizes))
    return c.fail(FakeError::Dim,
                  "the indices " + c.show(c.tensor(7)) +
                      " do not have the size of the pool's result, " +
                      dimsText(*sizes) + unlike(c.tensor(7).sizes, *sizes));
  if (Max && c.tensor(7).dtype != DType::I64)
    return c.fail(FakeError::Dtype, "the indices must be int64, not " +
                                        dtypeName(c.tensor(7).dtype));
  if (Max && !isFloating(self.dtype))
    return c.fail(FakeError::Dtype,
                  "the input must be of floating point, not " +
                      dtypeName(self.dtype));
  return pooled(c, self, self.sizes, self.dtype, /*follow3d=*/Max);
}

//===----------------------------------------------------------------------===//
// Adaptive
//===----------------------------------------------------------------------===//

static FailureOr<Dims> adaptiveSizes(FakeCall &c, int64_t spatial) {
  const TensorMeta &self = c.tensor(0);
  Dims wanted = c.dims(1);
  if (static_cast<int64_t>(wanted.size()) != spatial)
    return c.fail(FakeError::Dim, "'output_size' has " + Twine(wanted.size()) +
                                      " entries for " + Twine(spatial) +
                                      " dims");
  if (failed(needsDims(c, self, spatial)) ||
      failed(needsElements(c, self, spatial)))
    return failure();
  Dims sizes = self.sizes;
  for (int64_t i = 0; i < spatial; ++i) {
    if (c.lt(wanted[i], 0))
      return c.fail(FakeError::Shape,
                    "output size " + wanted[i].str() + " must not be negative");
    sizes[self.rank() - spatial + i] = wanted[i];
  }
  return sizes;
}

template <int64_t N>
static LogicalResult adaptiveAvg(FakeCall &c) {
  FailureOr<Dims> sizes = adaptiveSizes(c, N);
  return failed(sizes) ? failure()
                       : pooled(c, c.tensor(0), *sizes, c.tensor(0).dtype,
                                /*follow3d=*/false);
}

template <int64_t N>
static LogicalResult adaptiveMax(FakeCall &c) {
  FailureOr<Dims> sizes = adaptiveSizes(c, N);
  if (failed(sizes) ||
      failed(pooled(c, c.tensor(0), *sizes, c.tensor(0).dtype, N != 3)))
    return failure();
  return pooled(c, c.tensor(0), *sizes, DType::I64, N != 3);
}

template <int64_t N, bool Max>
static LogicalResult adaptiveBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &self = c.tensor(1);
  if (failed(needsDims(c, self, N)))
    return failure();
  if (grad.rank() != self.rank())
    return c.fail(FakeError::Dim,
                  c.nameOf(&grad) + " has " + Twine(grad.rank()) + " dims, " +
                      c.nameOf(&self) + " " + Twine(self.rank()));
  if (N == 2 && grad.dtype != self.dtype)
    return c.fail(FakeError::Dtype, "the gradient is " + dtypeName(grad.dtype) +
                                        ", the input " + dtypeName(self.dtype));
  // The kernels in three dims know no channels last and keep plain layouts.
  if (N == 3)
    return c.fresh(TensorMeta::contiguous(self.dtype, self.sizes, c.device));
  return pooled(c, self, self.sizes, self.dtype);
}

//===----------------------------------------------------------------------===//
// Fractional pools and unpooling
//===----------------------------------------------------------------------===//

template <int64_t N>
static LogicalResult fractional(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &samples = c.tensor(3);
  FailureOr<Dims> kernel = perDim(c, 1, N), wanted = perDim(c, 2, N);
  if (failed(kernel) || failed(wanted) || failed(needsDims(c, self, N)) ||
      failed(needsElements(c, self, N)))
    return failure();
  if (samples.rank() != 3)
    return c.fail(FakeError::Dim, "the random samples need 3 dims, they have " +
                                      Twine(samples.rank()));
  if (samples.dtype != self.dtype)
    return c.fail(FakeError::Dtype, "the random samples are " +
                                        dtypeName(samples.dtype) +
                                        ", the input " + dtypeName(self.dtype));
  // One sample for each plane; there may be more images of them.
  bool batched = self.rank() == N + 2;
  Dim images = batched ? self.sizes[0] : Dim(1);
  Dim planes = self.sizes[batched ? 1 : 0];
  if (c.lt(samples.sizes[0], images) || !c.mustEq(samples.sizes[1], planes) ||
      !c.mustEq(samples.sizes[2], N))
    return c.fail(FakeError::Shape, "the random samples " + c.show(samples) +
                                        " do not fit the input " +
                                        c.show(self));
  Dims sizes = self.sizes;
  for (int64_t i = 0; i < N; ++i) {
    Dim &size = sizes[self.rank() - N + i];
    if (c.lt(size, (*kernel)[i] + (*wanted)[i] - 1))
      return c.fail(FakeError::Shape,
                    "a pool of " + (*kernel)[i].str() + " with " +
                        (*wanted)[i].str() + " results does not fit dim " +
                        Twine(self.rank() - N + i) + " of size " + size.str());
    size = (*wanted)[i];
  }
  if (failed(c.fresh(TensorMeta::contiguous(self.dtype, sizes, c.device))))
    return failure();
  return c.fresh(TensorMeta::contiguous(DType::I64, sizes, c.device));
}

template <int64_t N>
static LogicalResult fractionalBackward(FakeCall &c) {
  const TensorMeta &grad = c.tensor(0), &self = c.tensor(1);
  FailureOr<Dims> wanted = perDim(c, 3, N);
  if (failed(wanted) || failed(needsDims(c, self, N)))
    return failure();
  Dims sizes(self.sizes.begin(), self.sizes.end() - N);
  sizes.append(wanted->begin(), wanted->end());
  if (!c.sameSizes(sizes, grad.sizes))
    return c.fail(FakeError::Shape,
                  "the gradient " + c.show(grad) +
                      " does not have the size of the pool's result, " +
                      dimsText(sizes) + unlike(grad.sizes, sizes));
  if (c.tensor(4).dtype != DType::I64)
    return c.fail(FakeError::Index, "the indices must be int64, they are " +
                                        dtypeName(c.tensor(4).dtype));
  if (N == 2 && !c.sameSizes(sizes, c.tensor(4).sizes))
    return c.fail(FakeError::Index,
                  "the indices " + c.show(c.tensor(4)) +
                      " do not have the size of the pool's result, " +
                      dimsText(sizes) + unlike(c.tensor(4).sizes, sizes));
  return c.fresh(TensorMeta::contiguous(self.dtype, self.sizes, c.device));
}

template <int64_t N>
static LogicalResult unpool(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &indices = c.tensor(1);
  FailureOr<Dims> wanted = perDim(c, 2, N);
  if (failed(wanted))
    return failure();
  if (indices.dtype != DType::I64)
    return c.fail(FakeError::Index,
                  "the indices must be int64, not " + dtypeName(indices.dtype));
  if (failed(needsDims(c, self, N)))
    return failure();
  if (!c.sameSizes(self.sizes, indices.sizes))
    return c.fail(FakeError::Index, "the indices " + c.show(indices) +
                                        " do not have the size of " +
                                        c.show(self) +
                                        unlike(indices.sizes, self.sizes));
  Dims sizes(self.sizes.begin(), self.sizes.end() - N);
  sizes.append(wanted->begin(), wanted->end());
  TensorMeta out = TensorMeta::contiguous(self.dtype, sizes, c.device);
  if (N == 2)
    out.strides = followingStrides(sizes, self);
  return c.fresh(std::move(out));
}

ArrayRef<FakeRuleRow> poolRules() {
  static const FakeRuleRow rows[] = {
      {"_adaptive_avg_pool2d.default", adaptiveAvg<2>},
      {"_adaptive_avg_pool2d_backward.default", adaptiveBackward<2, false>},
      {"_adaptive_avg_pool3d.default", adaptiveAvg<3>},
      {"_adaptive_avg_pool3d_backward.default", adaptiveBackward<3, false>},
      {"adaptive_avg_pool1d.default", adaptiveAvg<1>},
      {"adaptive_avg_pool2d.default", adaptiveAvg<2>},
      {"adaptive_avg_pool3d.default", adaptiveAvg<3>},
      {"adaptive_max_pool1d.default", adaptiveMax<1>},
      {"adaptive_max_pool2d.default", adaptiveMax<2>},
      {"adaptive_max_pool2d_backward.default", adaptiveBackward<2, true>},
      {"adaptive_max_pool3d.default", adaptiveMax<3>},
      {"adaptive_max_pool3d_backward.default", adaptiveBackward<3, true>},
      {"avg_pool1d.default", avgPool<1>},
      {"avg_pool2d.default", avgPool<2>},
      {"avg_pool2d_backward.default", poolBackward<2, false>},
      {"avg_pool3d.default", avgPool<3>},
      {"avg_pool3d_backward.default", poolBackward<3, false>},
      {"fractional_max_pool2d.default", fractional<2>},
      {"fractional_max_pool2d_backward.default", fractionalBackward<2>},
      {"fractional_max_pool3d.default", fractional<3>},
      {"fractional_max_pool3d_backward.default", fractionalBackward<3>},
      {"max_pool1d.default", maxPool<1, false>},
      {"max_pool1d_with_indices.default", maxPool<1, true>},
      {"max_pool2d.default", maxPool<2, false>},
      {"max_pool2d_with_indices.default", maxPool<2, true>},
      {"max_pool2d_with_indices_backward.default", poolBackward<2, true>},
      {"max_pool3d.default", maxPool<3, false>},
      {"max_pool3d_with_indices.default", maxPool<3, true>},
      {"max_pool3d_with_indices_backward.default", poolBackward<3, true>},
      {"max_unpool2d.default", unpool<2>},
      {"max_unpool3d.default", unpool<3>},
  };
  return rows;
}

} // namespace ft
