//===- Conv.cpp - Convolutions ---------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes follow the usual formulas. The layout is that of the library which
// would run the call: channels last if the input or the weight suggests it and
// the library has such kernels, row-major otherwise.

#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Families.h"
#include "compiler/fake/rules/Refusals.h"

using namespace llvm;

namespace ft {

namespace {
struct Convolution {
  TensorMeta input, weight;
  const TensorMeta *bias = nullptr;
  Dims stride, padding, dilation, outputPadding;
  bool transposed = false;
  Dim groups = 1;
  /// The input had no batch dim; one was put in front.
  bool unbatched = false;
  bool backward = false;
  /// Which kernel runs: one that is chosen, or a named one.
  enum { Chosen, Native, Library } kernel = Chosen;
  size_t spatial() const { return weight.sizes.size() - 2; }
};
} // namespace

/// One number stands for all spatial dims.
static LogicalResult widen(FakeCall &c, Dims &list, size_t spatial,
                           StringRef name) {
  if (list.size() == 1 && spatial != 1)
    list.assign(spatial, Dim(list.front()));
  if (list.size() == spatial)
    return success();
  return c.fail(FakeError::Dtype, "'" + name + "' has " + Twine(list.size()) +
                                      " entries for " + Twine(spatial) +
                                      " spatial dims");
}

static LogicalResult check(FakeCall &c, Convolution &conv) {
  const TensorMeta &input = conv.input, &weight = conv.weight;
  if (weight.rank() < 3 || weight.rank() > 5)
    return c.fail(FakeError::Dim, "a convolution's weight needs 3 to 5 dims, "
                                  "it has " +
                                      Twine(weight.rank()));
  if (input.rank() != weight.rank())
    return c.fail(FakeError::Dim, "the input " + c.show(input) +
                                      " and the weight " + c.show(weight) +
                                      " differ in the number of dims");
  // The derivative's kernel does not compare dtypes.
  if (!conv.backward && input.dtype != weight.dtype)
    return c.fail(FakeError::Dtype, "the input is " + dtypeName(input.dtype) +
                                        ", the weight " +
                                        dtypeName(weight.dtype));
  size_t spatial = conv.spatial();
  if (conv.outputPadding.empty())
    conv.outputPadding.assign(spatial, Dim(0));
  if (failed(widen(c, conv.stride, spatial, "stride")) ||
      failed(widen(c, conv.padding, spatial, "padding")) ||
      failed(widen(c, conv.dilation, spatial, "dilation")) ||
      failed(widen(c, conv.outputPadding, spatial, "output_padding")))
    return failure();
  for (auto [s, d, p] : zip(conv.stride, conv.dilation, conv.padding)) {
    if (c.lt(s, 1))
      return c.fail(FakeError::Other,
                    "stride " + s.str() + " must be positive");
    if (c.lt(d, 1))
      return c.fail(FakeError::Other,
                    "dilation " + d.str() + " must be positive");
    if (c.lt(p, 0))
      return c.fail(FakeError::Other,
                    "padding " + p.str() + " must not be negative");
  }
  if (c.lt(conv.groups, 1))
    return c.fail(FakeError::Other, "the number of groups must be positive, "
                                    "it is " +
                                        conv.groups.str());
  Dim wanted =
      conv.transposed ? weight.sizes[0] : weight.sizes[1] * conv.groups;
  if (!c.mustEq(input.sizes[1], wanted))
    return c.fail(FakeError::Shape,
                  c.nameOf(&c.tensor(1)) + ", " + weight.str() + ", takes " +
                      wanted.str() + " channels in " + conv.groups.str() +
                      (conv.groups.is(1) ? " group" : " groups") +
                      ", dim 1 of the input has size " + input.sizes[1].str());
  if (!c.mustEq(mod(weight.sizes[0], conv.groups), 0))
    return c.fail(FakeError::Shape, "dim 0 of the weight has size " +
                                        weight.sizes[0].str() +
                                        ", which is not divisible by " +
                                        conv.groups.str() + " groups");
  Dim channels =
      conv.transposed ? weight.sizes[1] * conv.groups : weight.sizes[0];
  if (conv.bias &&
      (conv.bias->rank() != 1 || !c.mustEq(conv.bias->sizes[0], channels)))
    return c.fail(FakeError::Shape,
                  "the bias must have size [" + channels.str() +
                      "], one entry for each output channel; it is " +
                      conv.bias->str());
  if (conv.bias && conv.bias->dtype != input.dtype)
    return c.fail(FakeError::Dtype, "the input is " + dtypeName(input.dtype) +
                                        ", the bias " +
                                        dtypeName(conv.bias->dtype));
  return success();
}

static FailureOr<Dims> outputSizes(FakeCall &c, const Convolution &conv) {
  const TensorMeta &input = conv.input, &weight = conv.weight;
  Dims sizes = {input.sizes[0], conv.transposed ? weight.sizes[1] * conv.groups
                                                : weight.sizes[0]};
  for (size_t i = 0; i < conv.spatial(); ++i) {
    Dim in = input.sizes[i + 2];
    Dim reach = conv.dilation[i] * (weight.sizes[i + 2] - 1);
    Dim out;
    if (conv.transposed) {
      out = (in - 1) * conv.stride[i] - conv.padding[i] * 2 + reach +
            conv.outputPadding[i] + 1;
      if (c.lt(out, 0) || (out.is(0) && c.device.kind != Device::Cpu))
        return c.fail(FakeError::Shape, "the output's dim " + Twine(i + 2) +
                                            " would have size " + out.str());
    } else {
      Dim padded = in + conv.padding[i] * 2;
      if (c.lt(padded, reach + 1))
        return c.fail(FakeError::Shape,
                      "a kernel that spans " + (reach + 1).str() +
                          " does not fit dim " + Twine(i + 2) +
                          " of the input, padded to " + padded.str());
      out = floorDiv(padded - reach - 1, conv.stride[i]) + 1;
    }
    sizes.push_back(out);
  }
  return sizes;
}

/// The product or size is above `limit`; an open one counts as large.
static bool above(Dim d, int64_t limit) {
  return !d.isStatic() || d.value() > limit;
}

/// Whether the CPU's library for deep learning runs a convolution of three
/// spatial dims, which keeps channels last; the native kernel does not. It
/// takes all of reduced precision, of float32 what is large enough, and no
/// float64. Source: PyTorch's choice of a backend.
static bool usesLibrary(const Convolution &conv, const TensorMeta &input,
                        const TensorMeta &weight) {
  if (conv.kernel != Convolution::Chosen)
    return conv.kernel == Convolution::Library;
  if (input.dtype == DType::F16 || input.dtype == DType::BF16)
    return true;
  if (input.dtype != DType::F32)
    return false;
  bool largeKernel = above(weight.sizes[4], 3) && above(weight.sizes[3], 3);
  Dim size = input.sizes[0] * input.sizes[1] * input.sizes[2] * input.sizes[3];
  return above(conv.groups, 1) || largeKernel || above(input.sizes[0], 1) ||
         above(size, 20480);
}

static bool channelsLast(FakeCall &c, const Convolution &conv,
                         const TensorMeta &input, const TensorMeta &weight) {
  if (conv.unbatched || input.sizes[0].is(0) ||
      !(suggestsChannelsLast(input) || suggestsChannelsLast(weight)))
    return false;
  if (c.device.kind == Device::Cuda)
    return input.dtype != DType::F64;
  return input.rank() == 4 || usesLibrary(conv, input, weight);
}

/// 1-d convolutions run as 2-d ones of height 1.
static TensorMeta withHeight(TensorMeta t) {
  Dim stride = t.sizes[2] * t.strides[2];
  t.sizes.insert(t.sizes.begin() + 2, Dim(1));
  t.strides.insert(t.strides.begin() + 2, stride);
  return t;
}

static Dims layout(FakeCall &c, const Convolution &conv, ArrayRef<Dim> sizes) {
  if (sizes.size() != 3)
    return channelsLast(c, conv, conv.input, conv.weight)
               ? channelsLastStrides(sizes)
               : contiguousStrides(sizes);
  // The input, but not the weight, is made row-major first.
  TensorMeta input = conv.input;
  if (!isContiguous(input))
    input.strides = contiguousStrides(input.sizes);
  if (!channelsLast(c, conv, withHeight(input), withHeight(conv.weight)))
    return contiguousStrides(sizes);
  Dims strides = channelsLastStrides({sizes[0], sizes[1], Dim(1), sizes[2]});
  strides.erase(strides.begin() + 2);
  return strides;
}

static LogicalResult run(FakeCall &c, Convolution &conv) {
  if (failed(check(c, conv)))
    return failure();
  FailureOr<Dims> sizes = outputSizes(c, conv);
  if (failed(sizes))
    return failure();
  TensorMeta out;
  out.dtype = conv.input.dtype;
  out.device = c.device;
  out.strides = layout(c, conv, *sizes);
  out.sizes = std::move(*sizes);
  if (conv.unbatched) {
    out.sizes.erase(out.sizes.begin());
    out.strides = contiguousStrides(out.sizes);
  }
  return c.fresh(std::move(out));
}

namespace {
/// Where an operator has its arguments behind (input, weight); -1: it has none.
struct Places {
  int bias, stride, padding, dilation, outputPadding = -1, groups = -1;
};
} // namespace

static Convolution argumentsAt(FakeCall &c, const Places &at) {
  auto dims = [&](int place) {
    return place < 0 ? Dims() : c.dims(static_cast<size_t>(place));
  };
  Convolution conv;
  conv.input = c.tensor(0);
  conv.weight = c.tensor(1);
  conv.bias = c.optTensor(static_cast<size_t>(at.bias));
  conv.stride = dims(at.stride);
  conv.padding = dims(at.padding);
  conv.dilation = dims(at.dilation);
  conv.outputPadding = dims(at.outputPadding);
  if (at.groups >= 0)
    conv.groups = c.dim(static_cast<size_t>(at.groups));
  return conv;
}

/// An input without batch gets one.
static void addBatch(Convolution &conv) {
  if (conv.input.rank() + 1 != conv.weight.rank())
    return;
  conv.input.sizes.insert(conv.input.sizes.begin(), Dim(1));
  conv.input.strides = contiguousStrides(conv.input.sizes);
  conv.unbatched = true;
}

/// convolution(input, weight, bias, stride, padding, dilation, transposed,
/// output_padding, groups, …)
static LogicalResult convolution(FakeCall &c) {
  Convolution conv = argumentsAt(c, {.bias = 2,
                                     .stride = 3,
                                     .padding = 4,
                                     .dilation = 5,
                                     .outputPadding = 7,
                                     .groups = 8});
  conv.transposed = c.flag(6);
  return run(c, conv);
}

/// convNd and conv_transposeNd, which take an input without batch.
template <bool Transposed>
static LogicalResult convNd(FakeCall &c) {
  Convolution conv = Transposed ? argumentsAt(c, {.bias = 2,
                                                  .stride = 3,
                                                  .padding = 4,
                                                  .dilation = 7,
                                                  .outputPadding = 5,
                                                  .groups = 6})
                                : argumentsAt(c, {.bias = 2,
                                                  .stride = 3,
                                                  .padding = 4,
                                                  .dilation = 5,
                                                  .groups = 6});
  conv.transposed = Transposed;
  addBatch(conv);
  return run(c, conv);
}

/// convNd.padding: 'valid', or 'same' for a result of the input's size.
static LogicalResult convPadding(FakeCall &c) {
  Convolution conv = argumentsAt(
      c, {.bias = 2, .stride = 3, .padding = -1, .dilation = 5, .groups = 6});
  StringRef mode = c.optText(4);
  if (mode != "same" && mode != "valid")
    return c.fail(FakeError::Other,
                  "padding must be 'same' or 'valid', not '" + mode + "'");
  if (conv.weight.rank() < 3)
    return c.fail(FakeError::Dim, "a convolution's weight needs 3 to 5 dims, "
                                  "it has " +
                                      Twine(conv.weight.rank()));
  addBatch(conv);
  size_t spatial = conv.spatial();
  conv.padding.assign(spatial, Dim(0));
  if (mode == "valid")
    return run(c, conv);
  if (failed(widen(c, conv.stride, spatial, "stride")) ||
      failed(widen(c, conv.dilation, spatial, "dilation")))
    return failure();
  for (Dim s : conv.stride)
    if (!s.is(1))
      return c.fail(FakeError::Other,
                    "padding 'same' needs stride 1, not " + s.str());
  if (static_cast<size_t>(conv.input.rank()) != spatial + 2)
    return run(c, conv);
  // An odd total is padded by one more at the end, which is as good as an input
  // that is longer by one.
  bool last = suggestsChannelsLast(conv.input);
  for (size_t i = 0; i < spatial; ++i) {
    Dim total = conv.dilation[i] * (conv.weight.sizes[i + 2] - 1);
    conv.padding[i] = floorDiv(total, 2);
    if (!mod(total, 2).is(0)) {
      conv.input.sizes[i + 2] = conv.input.sizes[i + 2] + mod(total, 2);
      conv.input.strides = last ? channelsLastStrides(conv.input.sizes)
                                : contiguousStrides(conv.input.sizes);
    }
  }
  return run(c, conv);
}

/// Of an empty batch the CPU's gradients are zeros, laid out as the weight is.
static Dims emptyLayout(const Convolution &conv, const TensorMeta &like) {
  if (like.rank() == 3)
    return likeStrides(like);
  return suggestsChannelsLast(conv.weight) ? channelsLastStrides(like.sizes)
                                           : contiguousStrides(like.sizes);
}

/// (grad, input, weight, bias_sizes, stride, padding, dilation, transposed,
/// output_padding, groups, output_mask)
static LogicalResult convolutionBackward(FakeCall &c) {
  Convolution conv{c.tensor(1), c.tensor(2), nullptr,   c.dims(4), c.dims(5),
                   c.dims(6),   c.dims(8),   c.flag(7), c.dim(9)};
  conv.backward = true;
  if (failed(check(c, conv)))
    return failure();
  FailureOr<Dims> sizes = outputSizes(c, conv);
  if (failed(sizes))
    return failure();
  const TensorMeta &grad = c.tensor(0);
  if (!c.sameSizes(*sizes, grad.sizes))
    return c.fail(FakeError::Shape,
                  "the gradient " + c.show(grad) +
                      " does not have the size of the convolution's output, " +
                      dimsText(*sizes) + unlike(grad.sizes, *sizes));
  const std::vector<Arg> &mask = c.arg(10).list;
  auto wanted = [&](size_t i) { return i < mask.size() && mask[i].boolean; };
  for (size_t i : {0u, 1u}) {
    const TensorMeta *like = i == 0 ? &conv.input : &conv.weight;
    if (!wanted(i)) {
      (void)c.undefined();
      continue;
    }
    TensorMeta out = TensorMeta::contiguous(grad.dtype, like->sizes, c.device);
    out.strides = conv.input.numel().is(0) && c.device.kind == Device::Cpu
                      ? emptyLayout(conv, *like)
                      : layout(c, conv, like->sizes);
    (void)c.fresh(std::move(out));
  }
  if (!wanted(2))
    return c.undefined();
  if (c.isNone(3) && c.device.kind != Device::Cpu)
    return c.fail(FakeError::Shape, "the bias's gradient is asked for, but "
                                    "there is no bias");
  return c.fresh(TensorMeta::contiguous(grad.dtype, grad.sizes[1], c.device));
}

/// (self, weight, kernel_size, bias, stride, padding, dilation if it has one):
/// the native kernels, which repeat the kernel's size.
static LogicalResult nativeConv(FakeCall &c) {
  bool dilated = c.arguments().size() > 6;
  Convolution conv = argumentsAt(
      c, {.bias = 3, .stride = 4, .padding = 5, .dilation = dilated ? 6 : -1});
  size_t spatial = c.schema().args[2].type.fixedLength;
  if (!dilated)
    conv.dilation.assign(spatial, Dim(1));
  Dims kernel = c.dims(2);
  if (kernel.size() != spatial || conv.weight.sizes.size() != spatial + 2)
    return c.fail(FakeError::Dim, "kernel_size has " + Twine(kernel.size()) +
                                      " entries, the weight is " +
                                      conv.weight.str());
  if (conv.weight.numel().is(0))
    return c.fail(FakeError::Shape,
                  "the weight " + conv.weight.str() + " is empty");
  conv.kernel = Convolution::Native;
  for (size_t i = 0; i < spatial; ++i)
    if (!c.mustEq(kernel[i], conv.weight.sizes[i + 2]))
      return c.fail(FakeError::Shape,
                    "kernel_size has " + kernel[i].str() + " for dim " +
                        Twine(i) + ", the weight is " + conv.weight.str());
  return run(c, conv);
}

/// The same, transposed: (…, stride, padding, output_padding, dilation)
static LogicalResult nativeTransposed(FakeCall &c) {
  Convolution conv = argumentsAt(c, {.bias = 3,
                                     .stride = 4,
                                     .padding = 5,
                                     .dilation = 7,
                                     .outputPadding = 6});
  conv.transposed = true;
  conv.kernel = Convolution::Native;
  return run(c, conv);
}

/// A depthwise convolution: as many groups as channels.
static LogicalResult depthwise(FakeCall &c) {
  if (failed(needsAccelerator(c)))
    return failure();
  return nativeConv(c);
}

/// (self, weight, bias, padding, stride, dilation, groups)
static LogicalResult mkldnnConv(FakeCall &c) {
  if (c.device.kind != Device::Cpu)
    return noKernel(c, "it is for the CPU only");
  Convolution conv = argumentsAt(
      c, {.bias = 2, .stride = 4, .padding = 3, .dilation = 5, .groups = 6});
  conv.kernel = Convolution::Library;
  if (!isFloating(conv.input.dtype) || conv.input.dtype == DType::F64)
    return c.fail(FakeError::Dtype, "mkldnn_convolution is not defined for " +
                                        dtypeName(conv.input.dtype));
  return run(c, conv);
}

/// Row-major inputs of dims (time, batch, channels).
static LogicalResult convTbc(FakeCall &c) {
  const TensorMeta &self = c.tensor(0), &weight = c.tensor(1);
  if (self.rank() != 3 || weight.rank() != 3)
    return c.fail(FakeError::Dim, "conv_tbc needs 3 dims, not " +
                                      Twine(self.rank()) + " and " +
                                      Twine(weight.rank()));
  if (!c.mustEq(self.sizes[2], weight.sizes[1]))
    return c.fail(FakeError::Shape,
                  c.sizeAt(self, 2) + ", " + c.sizeAt(weight, 1) +
                      "; these are the channels and must be equal");
  Dims sizes = {self.sizes[0] - weight.sizes[0] + 1 + c.dim(3) * 2,
                self.sizes[1], weight.sizes[2]};
  if (c.lt(sizes[0], 0))
    return c.fail(FakeError::Shape,
                  "a kernel of " + weight.sizes[0].str() +
                      " does not fit dim 0 of the input, of " +
                      self.sizes[0].str() + " padded by " + c.dim(3).str());
  return c.fresh(TensorMeta::contiguous(self.dtype, sizes, c.device));
}

ArrayRef<FakeRuleRow> convRules() {
  using enum DevicePolicy;
  static const FakeRuleRow rows[] = {
      {"_conv_depthwise2d.default", depthwise, Strict},
      {"_convolution.default", convolution, Strict},
      {"_convolution.deprecated", convolution, Strict},
      {"_convolution_mode.default", convPadding, Strict},
      {"_slow_conv2d_forward.default", nativeConv, Strict},
      {"conv1d.default", convNd<false>, Strict},
      {"conv1d.padding", convPadding, Strict},
      {"conv2d.default", convNd<false>, Strict},
      {"conv2d.padding", convPadding, Strict},
      {"conv3d.default", convNd<false>, Strict},
      {"conv3d.padding", convPadding, Strict},
      {"conv_depthwise3d.default", depthwise, Strict},
      {"conv_tbc.default", convTbc},
      {"conv_transpose1d.default", convNd<true>, Strict},
      {"conv_transpose2d.input", convNd<true>, Strict},
      {"conv_transpose3d.input", convNd<true>, Strict},
      {"convolution.default", convolution, Strict},
      {"convolution_backward.default", convolutionBackward, Strict},
      {"convolution_overrideable.default", convolution, Strict},
      {"mkldnn_convolution.default", mkldnnConv, Strict},
      {"slow_conv3d.default", nativeConv, Strict},
      {"slow_conv3d_forward.default", nativeConv, Strict},
      {"slow_conv_dilated2d.default", nativeConv, Strict},
      {"slow_conv_dilated3d.default", nativeConv, Strict},
      {"slow_conv_transpose2d.default", nativeTransposed, Strict},
      {"slow_conv_transpose3d.default", nativeTransposed, Strict},
      {"thnn_conv2d.default", nativeConv, Strict},
  };
  return rows;
}

} // namespace ft
