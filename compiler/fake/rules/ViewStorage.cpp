//===- ViewStorage.cpp - Views that reinterpret storage --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/ViewRules.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

static LogicalResult same(FakeCall &c) { return c.view(c.tensor(0), 0); }

//===----------------------------------------------------------------------===//
// Sizes and strides given
//===----------------------------------------------------------------------===//

/// The number of elements from the start of the storage to the last one of
/// `t`; nothing if it is not known, or `t` has none.
static std::optional<int64_t> reach(const TensorMeta &t) {
  if (!t.isStatic() || t.numel().is(0))
    return std::nullopt;
  int64_t last = t.offset.value();
  for (auto [size, stride] : zip(t.sizes, t.strides)) {
    int64_t span;
    if (MulOverflow(size.value() - 1, stride.value(), span) ||
        AddOverflow(last, span, last))
      return std::numeric_limits<int64_t>::max();
  }
  return last + 1;
}

/// The same of symbolic sizes, of which no dim is empty.
static Dim reachOf(const TensorMeta &t) {
  Dim last = t.offset;
  for (auto [size, stride] : zip(t.sizes, t.strides))
    last = last + (size - 1) * stride;
  return last + 1;
}

/// `out` must lie in the storage of `self`, as far as that is known.
static LogicalResult checkReach(FakeCall &c, const TensorMeta &self,
                                const TensorMeta &out) {
  if ((!self.isStatic() || !out.isStatic()) && !c.viewsMore &&
      c.device.kind == Device::Cpu && !out.numel().is(0)) {
    if (!c.exceeds(reachOf(out), reachOf(self)))
      return success();
    return c.fail(FakeError::Shape,
                  "the view would end with element " +
                      (reachOf(out) - 1).str() +
                      " of its storage, 'self' with element " +
                      (reachOf(self) - 1).str());
  }
  std::optional<int64_t> have = reach(self), need = reach(out);
  if (!have || !need || *need <= *have)
    return success();
  // Elsewhere the shape functions decide, which do not look.
  if (c.device.kind != Device::Cpu)
    return success();
  if (c.viewsMore) {
    // Where the operand comes from is not part of the call's signature.
    c.bypass = "view of a view";
    return success();
  }
  return c.fail(FakeError::Shape,
                "the view would end with element " + Twine(*need - 1) +
                    " of its storage, 'self' with element " + Twine(*have - 1));
}

static LogicalResult setLayout(FakeCall &c, TensorMeta out, ArrayRef<Dim> sizes,
                               ArrayRef<Dim> strides, Dim offset) {
  if (sizes.size() != strides.size())
    return c.fail(FakeError::Shape, Twine(sizes.size()) + " sizes but " +
                                        Twine(strides.size()) + " strides");
  for (Dim d : sizes)
    if (c.lt(d, 0))
      return c.fail(FakeError::Shape,
                    "size " + d.str() + " must not be negative");
  for (Dim d : strides)
    if (c.lt(d, 0))
      return c.fail(FakeError::Shape,
                    "stride " + d.str() + " must not be negative");
  if (c.lt(offset, 0))
    return c.fail(FakeError::Shape,
                  "storage offset " + offset.str() + " must not be negative");
  TensorMeta self = out;
  out.sizes.assign(sizes.begin(), sizes.end());
  out.strides.assign(strides.begin(), strides.end());
  out.offset = offset;
  if (failed(checkReach(c, self, out)))
    return failure();
  return c.view(std::move(out), 0);
}

/// The offset is absolute: it is not added to that of the tensor.
static LogicalResult asStrided(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  return setLayout(c, self, c.dims(1), c.dims(2),
                   c.isNone(3) ? self.offset : c.dim(3));
}

static LogicalResult reshapeAlias(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  return setLayout(c, self, c.dims(1), c.dims(2), self.offset);
}

static LogicalResult resizeTo(FakeCall &c, ArrayRef<Dim> sizes,
                              unsigned formatArg) {
  TensorMeta out = c.tensor(0);
  for (Dim d : sizes)
    if (c.lt(d, 0))
      return c.fail(FakeError::Shape,
                    "size " + d.str() + " must not be negative");
  if (!c.sameSizes(sizes, out.sizes)) {
    out.sizes.assign(sizes.begin(), sizes.end());
    out.strides = contiguousStrides(out.sizes);
  }
  StringRef format = c.optText(formatArg);
  if (format == "preserve_format")
    return c.fail(FakeError::Other, "resize takes no preserve_format");
  if (!format.empty()) {
    std::optional<Dims> strides = formatStrides(format, out.sizes, nullptr);
    if (!strides)
      return c.fail(FakeError::Dim, "memory format " + format +
                                        " does not fit " + Twine(out.rank()) +
                                        " dims");
    out.strides = *strides;
  }
  return c.view(std::move(out), 0);
}

static LogicalResult resize(FakeCall &c) { return resizeTo(c, c.dims(1), 2); }

static LogicalResult resizeAs(FakeCall &c) {
  const TensorMeta &like = c.tensor(1);
  if (c.optText(2) != "preserve_format")
    return resizeTo(c, like.sizes, 2);
  TensorMeta out = c.tensor(0);
  out.sizes = like.sizes;
  out.strides = suggestsChannelsLast(like) ? channelsLastStrides(like.sizes)
                                           : contiguousStrides(like.sizes);
  return c.view(std::move(out), 0);
}

static LogicalResult setSource(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  const TensorMeta &source = c.tensor(1);
  if (self.dtype != source.dtype)
    return c.fail(FakeError::Dtype, "set_ needs one dtype, not " +
                                        dtypeName(self.dtype) + " and " +
                                        dtypeName(source.dtype));
  if (c.arguments().size() == 2)
    return c.view(source, 0);
  Dims strides = c.length(4) ? c.dims(4) : contiguousStrides(c.dims(3));
  return setLayout(c, source, c.dims(3), strides, c.dim(2));
}

/// The form that leaves its argument as it is: the result is a copy.
template <FakeRule Rule>
static LogicalResult ofCopy(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(Rule(c)))
    return failure();
  FakeResult &result = c.results.front();
  if (c.sameSizes(result.meta.sizes, self.sizes))
    result.meta.strides = cloneStrides(self);
  result.meta.offset = 0;
  result.alias = -1;
  return success();
}

/// set, the functional form, does not compare dtypes.
static LogicalResult viewSource(FakeCall &c) {
  TensorMeta out = c.tensor(1);
  out.dtype = c.tensor(0).dtype;
  return c.view(std::move(out), 1);
}

/// +x: the tensor itself.
static LogicalResult positive(FakeCall &c) {
  if (c.tensor(0).dtype == DType::Bool)
    return c.fail(FakeError::Dtype, "positive is not defined for bool");
  return same(c);
}

/// (flat, tensors): pieces of `flat`, one after the other, as the tensors.
static LogicalResult unflattenDense(FakeCall &c) {
  const TensorMeta &flat = c.tensor(0);
  if (flat.rank() != 1)
    return c.fail(FakeError::Dim,
                  "the flat tensor needs 1 dim, it has " + Twine(flat.rank()));
  Dim begin = 0;
  for (const TensorMeta *t : c.tensors(1)) {
    if (!t)
      return c.fail(FakeError::Other, "a tensor of the list is missing");
    Dim end = begin + t->numel();
    if (c.lt(flat.sizes[0], end))
      return c.fail(FakeError::Shape, "the flat tensor " + c.show(flat) +
                                          " does not fill the tensors");
    TensorMeta out = flat;
    out.sizes = t->sizes;
    out.strides = contiguousStrides(t->sizes);
    for (Dim &d : out.strides)
      d = d * flat.strides[0];
    out.offset = flat.offset + begin * flat.strides[0];
    (void)c.view(std::move(out), 0);
    begin = end;
  }
  return success();
}

static LogicalResult setEmpty(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  out.sizes.assign(1, Dim(0));
  out.strides.assign(1, Dim(1));
  out.offset = 0;
  return c.view(std::move(out), 0);
}

//===----------------------------------------------------------------------===//
// Elements of another type
//===----------------------------------------------------------------------===//

static LogicalResult viewDtype(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  TensorMeta out = self;
  out.dtype = *c.dtype(1);
  int64_t from = dtypeBytes(self.dtype), to = dtypeBytes(out.dtype);
  if (from == to)
    return c.view(std::move(out), 0);
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "a tensor without dims cannot be seen as " +
                                      dtypeName(out.dtype) + ", of " +
                                      Twine(to) + " bytes instead of " +
                                      Twine(from));
  if (!self.strides.back().is(1))
    return c.fail(FakeError::Dtype,
                  "the last stride must be 1 to see elements of another size, "
                  "it is " +
                      self.strides.back().str());
  if (to < from) {
    Dim ratio = from / to;
    for (Dim &stride : MutableArrayRef<Dim>(out.strides).drop_back())
      stride = stride * ratio;
    out.sizes.back() = out.sizes.back() * ratio;
    out.offset = out.offset * ratio;
    return c.view(std::move(out), 0);
  }
  Dim ratio = to / from;
  auto divides = [&](Dim value) { return c.eq(mod(value, ratio), 0); };
  if (!divides(self.sizes.back()))
    return c.fail(FakeError::Dtype, "the last size, " +
                                        self.sizes.back().str() +
                                        ", is not divisible by " + ratio.str());
  if (!divides(self.offset))
    return c.fail(FakeError::Dtype, "the storage offset, " + self.offset.str() +
                                        ", is not divisible by " + ratio.str());
  for (Dim &stride : MutableArrayRef<Dim>(out.strides).drop_back()) {
    if (!divides(stride))
      return c.fail(FakeError::Dtype, "stride " + stride.str() +
                                          " is not divisible by " +
                                          ratio.str());
    stride = floorDiv(stride, ratio);
  }
  out.sizes.back() = floorDiv(out.sizes.back(), ratio);
  out.offset = floorDiv(out.offset, ratio);
  return c.view(std::move(out), 0);
}

static LogicalResult viewAsReal(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (!isComplex(self.dtype))
    return c.fail(FakeError::Dtype, "view_as_real needs a complex dtype, not " +
                                        dtypeName(self.dtype));
  if (self.conj)
    return c.fail(FakeError::Other, "view_as_real needs a tensor that is not "
                                    "lazily conjugated; resolve_conj it first");
  TensorMeta out = self;
  out.dtype = toReal(self.dtype);
  for (Dim &stride : out.strides)
    stride = stride * 2;
  out.offset = self.offset * 2;
  out.sizes.push_back(2);
  out.strides.push_back(1);
  return c.view(std::move(out), 0);
}

static LogicalResult viewAsComplex(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (!isFloating(self.dtype) || toComplex(self.dtype) == self.dtype ||
      self.dtype == DType::BF16)
    return c.fail(FakeError::Dtype,
                  "view_as_complex needs float16, float32 or float64, not " +
                      dtypeName(self.dtype));
  if (self.sizes.empty())
    return c.fail(FakeError::Dim, "view_as_complex needs at least one dim");
  if (!c.mustEq(self.sizes.back(), 2))
    return c.fail(FakeError::Shape,
                  "view_as_complex needs a last dim of size 2, not " +
                      self.sizes.back().str());
  if (!c.mustEq(self.strides.back(), 1))
    return c.fail(FakeError::Shape, "view_as_complex needs a last stride of 1, "
                                    "not " +
                                        self.strides.back().str());
  TensorMeta out = self;
  out.dtype = toComplex(self.dtype);
  out.sizes.pop_back();
  out.strides.pop_back();
  for (Dim &stride : out.strides) {
    if (!c.mustEq(mod(stride, 2), 0))
      return c.fail(FakeError::Shape,
                    "view_as_complex needs even strides, not " + stride.str());
    stride = floorDiv(stride, 2);
  }
  if (!c.mustEq(mod(self.offset, 2), 0))
    return c.fail(FakeError::Shape,
                  "view_as_complex needs an even storage offset, not " +
                      self.offset.str());
  out.offset = floorDiv(self.offset, 2);
  return c.view(std::move(out), 0);
}

template <int Part>
static LogicalResult partOf(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (!isComplex(self.dtype)) {
    if (Part == 1)
      return c.fail(FakeError::Dtype,
                    "imag needs a complex dtype, not " + dtypeName(self.dtype));
    return same(c);
  }
  TensorMeta out = self;
  out.dtype = toReal(self.dtype);
  for (Dim &stride : out.strides)
    stride = stride * 2;
  out.offset = self.offset * 2 + Dim(Part);
  // The conjugate's imaginary part is the negative of the stored one.
  out.neg = Part == 1 && self.conj;
  out.conj = false;
  return c.view(std::move(out), 0);
}

//===----------------------------------------------------------------------===//
// Lazy flags
//===----------------------------------------------------------------------===//

static LogicalResult checkComplex(FakeCall &c) {
  if (isComplex(c.tensor(0).dtype))
    return success();
  return c.fail(FakeError::Dtype,
                "a lazy conjugate needs a complex dtype, not " +
                    dtypeName(c.tensor(0).dtype));
}

static LogicalResult conj(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  if (isComplex(out.dtype))
    out.conj = !out.conj;
  return c.view(std::move(out), 0);
}

static LogicalResult conjView(FakeCall &c) {
  return failed(checkComplex(c)) ? failure() : conj(c);
}

static LogicalResult negView(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  out.neg = !out.neg;
  return c.view(std::move(out), 0);
}

template <bool TensorMeta::*Flag>
static LogicalResult resolve(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  if (!(out.*Flag))
    return same(c);
  out.*Flag = false;
  out.strides = likeStrides(out);
  out.offset = 0;
  return c.fresh(std::move(out));
}

//===----------------------------------------------------------------------===//
// Moving elements between channels and space
//===----------------------------------------------------------------------===//

template <bool Unshuffle>
static LogicalResult pixelShuffle(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  Dim factor = c.dim(1);
  if (self.rank() < 3)
    return c.fail(FakeError::Dim, c.schema().base + " needs at least 3 dims, " +
                                      c.nameOf(&self) + " has " +
                                      Twine(self.rank()));
  if (c.lt(factor, 1))
    return c.fail(FakeError::Other, c.schema().base +
                                        " needs a positive factor, not " +
                                        factor.str());
  Dims sizes = self.sizes;
  Dim *channels = sizes.end() - 3, *h = sizes.end() - 2, *w = sizes.end() - 1;
  Dim square = factor * factor;
  if (c.lt(square, factor))
    return c.fail(FakeError::Other,
                  "the factor " + factor.str() + " is too large");
  if (Unshuffle) {
    for (Dim *d : {h, w}) {
      if (!c.mustEq(mod(*d, factor), 0))
        return c.fail(FakeError::Shape, "size " + d->str() + " of dim " +
                                            Twine(d - sizes.begin()) +
                                            " is not divisible by the factor " +
                                            factor.str());
      *d = floorDiv(*d, factor);
    }
    *channels = *channels * square;
  } else {
    if (!c.mustEq(mod(*channels, square), 0))
      return c.fail(
          FakeError::Shape,
          channels->str() + " channels, dim " + Twine(self.rank() - 3) +
              ", are not divisible by the factor's square, " + square.str());
    *channels = floorDiv(*channels, square);
    *h = *h * factor;
    *w = *w * factor;
  }
  TensorMeta out = TensorMeta::contiguous(self.dtype, sizes, c.device);
  // The CPU kernel keeps channels last; elsewhere it is a reshaped copy.
  if (c.device.kind == Device::Cpu)
    out.strides = followingStrides(sizes, self);
  return c.fresh(std::move(out));
}

static LogicalResult channelShuffle(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  // Nothing is left as it is.
  bool empty = self.numel().is(0) && c.schema().base == "channel_shuffle";
  if (self.rank() < 3)
    return c.fail(FakeError::Dim, "channel_shuffle needs at least 3 dims, the "
                                  "tensor has " +
                                      Twine(self.rank()));
  if (c.lt(c.dim(1), 1) || !c.mustEq(mod(self.sizes[1], c.dim(1)), 0))
    return c.fail(FakeError::Shape,
                  self.sizes[1].str() +
                      " channels, dim 1, do not divide into " + c.dim(1).str() +
                      " groups");
  if (empty)
    return c.view(self, 0);
  TensorMeta out = TensorMeta::contiguous(self.dtype, self.sizes, c.device);
  if (c.device.kind == Device::Cpu)
    out.strides = followingStrides(self.sizes, self);
  return c.fresh(std::move(out));
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static LogicalResult viewOf(FakeCall &c, TensorMeta meta, const Arg &arg) {
  if (failed(c.fresh(std::move(meta))))
    return failure();
  c.results.back().alias = arg.operand;
  return success();
}

static LogicalResult expandEach(FakeCall &c, ArrayRef<Dim> sizes,
                                ArrayRef<const TensorMeta *> list) {
  for (auto [i, t] : enumerate(list)) {
    TensorMeta out = *t;
    size_t added = sizes.size() - t->sizes.size();
    out.sizes.assign(sizes.begin(), sizes.end());
    out.strides.assign(sizes.size(), Dim(0));
    for (size_t d = added; d < sizes.size(); ++d)
      switch (c.fit(t->sizes[d - added], sizes[d])) {
      case FakeCall::Fit::Same:
        out.strides[d] = t->strides[d - added];
        break;
      case FakeCall::Fit::Either:
        out.strides[d] =
            c.broadcastStride(t->sizes[d - added], t->strides[d - added]);
        break;
      default:
        break;
      }
    if (failed(viewOf(c, std::move(out), c.arg(0).list[i])))
      return failure();
  }
  return success();
}

static LogicalResult broadcastTensors(FakeCall &c) {
  auto list = c.tensors(0);
  if (is_contained(list, nullptr))
    return c.fail(FakeError::Other, "a tensor of the list is missing");
  FailureOr<Dims> sizes = c.broadcast(list);
  return failed(sizes) ? failure() : expandEach(c, *sizes, list);
}

static LogicalResult meshgrid(FakeCall &c) {
  auto list = c.tensors(0);
  bool xy = c.arguments().size() > 1 && c.text(1) == "xy";
  if (c.arguments().size() > 1 && !xy && c.text(1) != "ij")
    return c.fail(FakeError::Other, "meshgrid's indexing must be 'ij' or 'xy', "
                                    "not '" +
                                        c.text(1) + "'");
  Dims sizes;
  for (const TensorMeta *t : list) {
    if (!t || t->rank() > 1)
      return c.fail(
          FakeError::Dim,
          (t ? c.nameOf(t) + " has " + Twine(t->rank()).str() + " dims, "
             : std::string("a tensor is missing, ")) +
              "meshgrid needs tensors of at most 1 dim");
    sizes.push_back(t->sizes.empty() ? Dim(1) : t->sizes[0]);
  }
  bool swap = xy && sizes.size() >= 2;
  if (swap)
    std::swap(sizes[0], sizes[1]);
  for (auto [i, t] : enumerate(list)) {
    TensorMeta out = *t;
    size_t own = swap && i < 2 ? 1 - i : i;
    out.sizes = sizes;
    out.strides.assign(sizes.size(), Dim(0));
    if (!t->strides.empty())
      out.strides[own] = t->strides[0];
    if (failed(viewOf(c, std::move(out), c.arg(0).list[i])))
      return failure();
  }
  return success();
}

ArrayRef<FakeRuleRow> viewStorageRules() {
  static const FakeRuleRow rows[] = {
      {"_conj.default", conjView},
      {"_neg_view.default", negView},
      {"_reshape_alias.default", reshapeAlias},
      {"alias.default", same},
      {"as_strided.default", asStrided},
      {"as_strided_.default", asStrided},
      {"broadcast_tensors.default", broadcastTensors, DevicePolicy::First},
      {"channel_shuffle.default", channelShuffle},
      {"conj.default", conj},
      {"detach.default", same},
      {"detach_.default", same},
      {"imag.default", partOf<1>},
      {"lift.default", same},
      {"lift_fresh.default", same},
      {"meshgrid.default", meshgrid, DevicePolicy::First},
      {"meshgrid.indexing", meshgrid, DevicePolicy::First},
      {"pixel_shuffle.default", pixelShuffle<false>},
      {"pixel_unshuffle.default", pixelShuffle<true>},
      {"native_channel_shuffle.default", channelShuffle},
      {"positive.default", positive},
      {"real.default", partOf<0>},
      {"resize.default", ofCopy<resize>},
      {"resize_.default", resize},
      {"resize_as.default", ofCopy<resizeAs>, DevicePolicy::First},
      {"resize_as_.default", resizeAs, DevicePolicy::First},
      {"resolve_conj.default", resolve<&TensorMeta::conj>},
      {"resolve_neg.default", resolve<&TensorMeta::neg>},
      {"set.default", ofCopy<setEmpty>},
      {"set.source_Tensor", viewSource},
      {"set_.default", setEmpty},
      {"set_.source_Tensor", setSource},
      {"set_.source_Tensor_storage_offset", setSource},
      {"unflatten_dense_tensors.default", unflattenDense},
      {"view.dtype", viewDtype},
      {"view_as_complex.default", viewAsComplex},
      {"view_as_real.default", viewAsReal},
  };
  return rows;
}

} // namespace ft
