//===- Copy.cpp - Copies and conversions -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Refusals.h"
#include "compiler/fake/rules/ViewRules.h"
#include "dialects/ft/Promotion.h"

using namespace llvm;

namespace ft {

/// A copy of `self` in a memory format ("" keeps the order of dims).
static LogicalResult copyIn(FakeCall &c, TensorMeta out, StringRef format) {
  bool keeps = format.empty() || format == "preserve_format";
  std::optional<Dims> strides = keeps
                                    ? std::optional(cloneStrides(out))
                                    : formatStrides(format, out.sizes, nullptr);
  if (!strides)
    return c.fail(FakeError::Dim, "memory format " + format +
                                      " does not fit a tensor with " +
                                      Twine(out.rank()) + " dims");
  out.strides = *strides;
  out.offset = 0;
  return c.fresh(std::move(out));
}

static LogicalResult clone(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  // A lazily conjugated tensor stays one, so that the copy is a plain one.
  return copyIn(c, std::move(out), c.optText(1));
}

static bool hasFormat(const TensorMeta &t, StringRef format) {
  if (format == "channels_last" || format == "channels_last_3d")
    return isChannelsLast(t) && t.rank() == (format == "channels_last" ? 4 : 5);
  return format != "contiguous_format" || isContiguous(t);
}

/// self, value: the value's elements with self's history.
static LogicalResult keepHistory(FakeCall &c) {
  if (!c.sameSizes(c.tensor(0).sizes, c.tensor(1).sizes))
    return c.fail(FakeError::Shape, "'value' does not have the size of 'self'");
  return c.fresh(c.tensor(1));
}

static LogicalResult contiguous(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  StringRef format = c.optText(1);
  if (format == "preserve_format")
    return c.fail(FakeError::Other, "contiguous takes no preserve_format");
  if (format.empty())
    format = "contiguous_format";
  if (hasFormat(self, format))
    return c.view(self, 0);
  return copyIn(c, self, format);
}

//===----------------------------------------------------------------------===//
// to
//===----------------------------------------------------------------------===//

namespace {
struct Conversion {
  std::optional<DType> dtype;
  std::optional<Device> device;
  StringRef format;
  bool always = false;
};
} // namespace

static LogicalResult convert(FakeCall &c, const Conversion &to) {
  const TensorMeta &self = c.tensor(0);
  TensorMeta out = self;
  out.dtype = to.dtype.value_or(self.dtype);
  out.device = to.device.value_or(self.device);
  bool keeps = to.format.empty() || to.format == "preserve_format" ||
               hasFormat(self, to.format);
  if (!to.always && out.dtype == self.dtype && out.device == self.device &&
      keeps)
    return c.view(self, 0);
  if (out.dtype != self.dtype)
    out.conj = out.neg = false;
  // A move to an accelerator copies the storage as it is, gaps included.
  if (out.device != self.device && out.device.kind != Device::Cpu &&
      out.dtype == self.dtype &&
      (to.format.empty() || to.format == "preserve_format")) {
    out.offset = 0;
    return c.fresh(std::move(out));
  }
  return copyIn(c, std::move(out), to.format);
}

static LogicalResult checkLayout(FakeCall &c, unsigned i) {
  StringRef layout = c.optText(i);
  if (!layout.empty() && layout != "strided" && layout != "torch.strided")
    return c.fail(FakeError::Unsupported, "layout " + layout +
                                              " is not supported, only "
                                              "strided tensors are");
  return success();
}

static LogicalResult toCopy(FakeCall &c) {
  if (failed(checkLayout(c, 2)))
    return failure();
  // PyTorch's shape function gives the tensor itself if it is on the named
  // accelerator already; the CPU kernel copies in any case.
  bool moves = c.deviceArg(3) && c.device.kind != Device::Cpu;
  return convert(c, {c.dtype(1), c.deviceArg(3), c.optText(6), !moves});
}
static LogicalResult toDevice(FakeCall &c) {
  return convert(c, {c.dtype(2), c.deviceArg(1), c.optText(5), c.flag(4)});
}
static LogicalResult toDtype(FakeCall &c) {
  return convert(c, {c.dtype(1), std::nullopt, c.optText(4), c.flag(3)});
}
static LogicalResult toDtypeLayout(FakeCall &c) {
  if (failed(checkLayout(c, 2)))
    return failure();
  return convert(c, {c.dtype(1), c.deviceArg(3), c.optText(7), c.flag(6)});
}
static LogicalResult toOther(FakeCall &c) {
  return convert(
      c, {c.tensor(1).dtype, c.tensor(1).device, c.optText(4), c.flag(3)});
}
static LogicalResult toPrimDevice(FakeCall &c) {
  return convert(c, {c.dtype(2), c.deviceArg(1), "", c.flag(4)});
}
static LogicalResult toPrimDtype(FakeCall &c) {
  return convert(c, {c.dtype(1), std::nullopt, "", c.flag(3)});
}
static LogicalResult toPrimOther(FakeCall &c) {
  return convert(c, {std::nullopt, std::nullopt, "", c.flag(2)});
}
static LogicalResult typeAs(FakeCall &c) {
  return convert(c, {c.tensor(1).dtype, c.tensor(1).device, "", false});
}
template <DType To>
static LogicalResult cast(FakeCall &c) {
  return convert(c, {To, std::nullopt, "", false});
}
template <Device::Kind Kind>
static LogicalResult moveTo(FakeCall &c) {
  Device device;
  device.kind = Kind;
  return convert(c, {std::nullopt, device, "", false});
}

//===----------------------------------------------------------------------===//
// Writing into a tensor
//===----------------------------------------------------------------------===//

static LogicalResult copyInto(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  const TensorMeta *source = c.optTensor(1);
  if (source && failed(c.broadcastTo(source->sizes, self.sizes, source)))
    return failure();
  if (self.device.kind == Device::Cpu && overlapsItself(self))
    return c.fail(FakeError::Other, "the tensor that is written, " +
                                        c.show(self) +
                                        ", has several elements in one place");
  return c.view(self, 0);
}

/// The functional form: self's layout, gaps included, with the other's values.
static LogicalResult copyOf(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (failed(c.broadcastTo(c.tensor(1).sizes, self.sizes, &c.tensor(1))))
    return failure();
  TensorMeta out = self;
  if (overlapsItself(self))
    out.strides = likeStrides(self);
  return c.fresh(std::move(out));
}

static LogicalResult checkFill(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (c.arguments().size() < 2)
    return success();
  if (const TensorMeta *value = c.optTensor(1))
    if (!value->sizes.empty())
      return c.fail(FakeError::Shape,
                    "the value must have no dims, not " + Twine(value->rank()));
  if (c.arg(1).kind == Arg::Complex && !isComplex(self.dtype) &&
      self.dtype != DType::Bool)
    return c.fail(FakeError::Dtype,
                  "a complex value does not fit a tensor of " +
                      dtypeName(self.dtype));
  return success();
}

static LogicalResult fillInto(FakeCall &c) {
  return failed(checkFill(c)) ? failure() : c.view(c.tensor(0), 0);
}

static LogicalResult filled(FakeCall &c) {
  if (failed(checkFill(c)))
    return failure();
  TensorMeta out = c.tensor(0);
  out.conj = out.neg = false;
  out.strides = likeStrides(out);
  out.offset = 0;
  return c.fresh(std::move(out));
}

/// A copy that keeps the strides.
static LogicalResult aliasCopy(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  out.conj = out.neg = false;
  return copyIn(c, out, "");
}

static LogicalResult liftFreshCopy(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  return copyIn(c, out, "contiguous_format");
}

static LogicalResult lazyClone(FakeCall &c) {
  TensorMeta out = c.tensor(0);
  out.strides = cloneStrides(out);
  out.offset = 0;
  return c.fresh(std::move(out));
}

/// Of any tensor a complex32 one: itself if it is one.
static LogicalResult chalf(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  StringRef format = c.optText(1);
  if (self.dtype == DType::C32 &&
      (format.empty() || format == "preserve_format"))
    return c.view(self, 0);
  std::optional<Dims> strides = formatStrides(
      format.empty() ? "preserve_format" : format, self.sizes, &self);
  if (!strides)
    return c.fail(FakeError::Dim, "memory format " + format + " does not fit " +
                                      Twine(self.rank()) + " dims");
  TensorMeta out = TensorMeta::contiguous(DType::C32, self.sizes, self.device);
  out.strides = *strides;
  return c.fresh(std::move(out));
}

/// Dense tensors are dense already.
static LogicalResult toDense(FakeCall &c) {
  const TensorMeta &self = c.tensor(0);
  if (c.dtype(1) && *c.dtype(1) != self.dtype)
    return noKernel(c, "with a dtype it takes sparse tensors only; use to");
  return c.view(self, 0);
}

ArrayRef<FakeRuleRow> copyRules() {
  static const FakeRuleRow rows[] = {
      {"_cast_Byte.default", cast<DType::U8>},
      {"_keep_history.default", keepHistory},
      {"_cast_Char.default", cast<DType::I8>},
      {"_cast_Double.default", cast<DType::F64>},
      {"_cast_Float.default", cast<DType::F32>},
      {"_cast_Half.default", cast<DType::F16>},
      {"_cast_Int.default", cast<DType::I32>},
      {"_cast_Long.default", cast<DType::I64>},
      {"_cast_Short.default", cast<DType::I16>},
      {"_conj_copy.default", aliasCopy},
      {"_neg_view_copy.default", aliasCopy},
      {"_to_copy.default", toCopy},
      {"alias_copy.default", aliasCopy},
      {"_lazy_clone.default", lazyClone},
      {"chalf.default", chalf},
      {"clone.default", clone},
      {"contiguous.default", contiguous},
      {"copy.default", copyOf, DevicePolicy::First},
      {"copy_.Tensor", copyInto, DevicePolicy::First},
      {"copy_.default", copyInto, DevicePolicy::First},
      {"copy_.float", copyInto},
      {"copy_.int", copyInto},
      {"cpu.default", moveTo<Device::Cpu>},
      {"cuda.default", moveTo<Device::Cuda>},
      {"fill.Scalar", filled},
      {"fill.Tensor", filled},
      {"fill_.Scalar", fillInto},
      {"fill_.Tensor", fillInto, DevicePolicy::First},
      {"lift_fresh_copy.default", liftFreshCopy},
      {"to.device", toDevice},
      {"to_dense.default", toDense},
      {"to.dtype", toDtype},
      {"to.dtype_layout", toDtypeLayout},
      {"to.other", toOther, DevicePolicy::First},
      {"to.prim_Device", toPrimDevice},
      {"to.prim_dtype", toPrimDtype},
      {"to.prim_other", toPrimOther},
      {"type_as.default", typeAs, DevicePolicy::First},
      {"zero.default", filled},
      {"zero_.default", fillInto},
  };
  return rows;
}

} // namespace ft
