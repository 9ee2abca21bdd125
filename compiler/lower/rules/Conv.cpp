//===- Conv.cpp - Lowering of convolutions ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Convolution.h"
#include "compiler/lower/rules/Indexed.h"

using namespace mlir;

namespace ft {

using Ints = Dims;

/// Bias, rounding, and the batch dim that an unbatched input lacks.
static LogicalResult finish(LowerCall &c, const Convolution &conv,
                            unsigned biasArg = 2) {
  LoweredTensor x = c.operand(0), w = c.operand(1);
  bool unbatched = x.rank() + 1 == w.rank();
  if (unbatched) {
    Ints sizes = x.dims();
    sizes.insert(sizes.begin(), 1);
    x = c.reshape(x, sizes);
  }
  DType dtype = c.resultMeta(0).dtype;
  LoweredTensor y = convolve(c, x, {w, c.call().tensor(1)}, conv);
  if (c.isNone(biasArg)) {
    y = c.cast(y, dtype);
  } else {
    LoweredTensor bias = c.operand(biasArg);
    DType sum = y.dtype;
    y = mapIndexed(
        c, y, dtype,
        [&](ArrayRef<AffineExpr> index) {
          return SmallVector<Access>{{bias, {index[1]}}};
        },
        [&](ScalarBuilder &s, ValueRange v) {
          Value biased = s.add(v[0], s.cast(v[1], bias.dtype, sum));
          return s.cast(biased, sum, dtype);
        });
  }
  if (unbatched) {
    Ints sizes = y.dims();
    sizes.erase(sizes.begin());
    y = c.reshape(y, sizes);
  }
  c.setResult(0, y);
  return success();
}

/// conv1d, conv2d, conv3d: (input, weight, bias, stride, padding, dilation,
/// groups). `padding` may be "same" or "valid".
static LogicalResult forward(LowerCall &c) {
  LoweredTensor w = c.operand(1);
  unsigned space = w.rank() - 2;
  Convolution conv;
  conv.stride = c.integers(3, space);
  conv.dilation = c.integers(5, space);
  conv.groups = c.integer(6);
  conv.outputPadding.assign(space, 0);
  const Arg &padding = c.call().args[4];
  if (padding.kind != Arg::Str) {
    conv.padding = c.integers(4, space, 0);
    return finish(c, conv);
  }
  conv.padding.assign(space, 0);
  if (padding.str == "same") {
    Ints sizes = w.dims();
    if (!w.isStatic())
      return c.unsupported("padding by a kernel whose size is only known at "
                           "run time");
    for (unsigned i = 0; i < space; ++i) {
      int64_t total = conv.dilation[i] * (sizes[2 + i].value() - 1);
      conv.padding[i] = total / 2;
      conv.extraPadding.push_back(total % 2);
    }
  }
  return finish(c, conv);
}

/// conv_transposeNd: (input, weight, bias, stride, padding, output_padding,
/// groups, dilation).
static LogicalResult transposed(LowerCall &c) {
  unsigned space = c.operand(1).rank() - 2;
  Convolution conv;
  conv.transposed = true;
  conv.stride = c.integers(3, space);
  conv.padding = c.integers(4, space, 0);
  conv.outputPadding = c.dimsArg(5, space, 0);
  conv.groups = c.integer(6);
  conv.dilation = c.integers(7, space);
  return finish(c, conv);
}

/// convolution: (input, weight, bias, stride, padding, dilation, transposed,
/// output_padding, groups).
static LogicalResult general(LowerCall &c) {
  unsigned space = c.operand(1).rank() - 2;
  Convolution conv;
  conv.stride = c.integers(3, space);
  conv.padding = c.integers(4, space, 0);
  conv.dilation = c.integers(5, space);
  conv.transposed = c.flag(6);
  conv.outputPadding = c.dimsArg(7, space, 0);
  conv.groups = c.integer(8);
  return finish(c, conv);
}

/// The kernels behind conv2d and conv3d: (self, weight, kernel_size, bias,
/// stride, padding), then dilation where it is not 1. The weight has the kernel
/// size, and as many channels as its group.
template <bool Dilated>
static LogicalResult kernelForm(LowerCall &c) {
  LoweredTensor x = c.operand(0), w = c.operand(1);
  unsigned space = w.rank() - 2;
  if (w.rank() == 2)
    return c.unsupported("a weight of two dims");
  Convolution conv;
  conv.stride = c.integers(4, space);
  conv.padding = c.integers(5, space, 0);
  conv.dilation =
      Dilated ? c.integers(6, space) : SmallVector<int64_t, 6>(space, 1);
  conv.outputPadding.assign(space, 0);
  Dim groups = floorDiv(x.dims()[x.rank() - space - 1], maxDim(w.dims()[1], 1));
  if (!groups.isStatic())
    return c.unsupported("a number of channels that is only known at run time");
  conv.groups = groups.value();
  return finish(c, conv, 3);
}

/// (self, weight, kernel_size, bias, stride, padding, output_padding, dilation)
static LogicalResult transposedKernelForm(LowerCall &c) {
  unsigned space = c.operand(1).rank() - 2;
  Convolution conv;
  conv.transposed = true;
  conv.stride = c.integers(4, space);
  conv.padding = c.integers(5, space, 0);
  conv.outputPadding = c.dimsArg(6, space, 0);
  conv.dilation = c.integers(7, space);
  return finish(c, conv, 3);
}

/// (self, weight, bias, padding, stride, dilation, groups)
static LogicalResult mkldnn(LowerCall &c) {
  unsigned space = c.operand(1).rank() - 2;
  Convolution conv;
  conv.padding = c.integers(3, space, 0);
  conv.stride = c.integers(4, space);
  conv.dilation = c.integers(5, space);
  conv.groups = c.integer(6);
  conv.outputPadding.assign(space, 0);
  return finish(c, conv);
}

static const LowerRuleRow kRows[] = {
    anyShape("_conv_depthwise2d.default", kernelForm<true>),
    anyShape("_convolution_mode.default", forward),
    anyShape("_slow_conv2d_forward.default", kernelForm<false>),
    anyShape("conv_depthwise3d.default", kernelForm<true>),
    anyShape("mkldnn_convolution.default", mkldnn),
    anyShape("slow_conv3d.default", kernelForm<false>),
    anyShape("slow_conv3d_forward.default", kernelForm<false>),
    anyShape("slow_conv_dilated2d.default", kernelForm<true>),
    anyShape("slow_conv_dilated3d.default", kernelForm<true>),
    anyShape("slow_conv_transpose2d.default", transposedKernelForm),
    anyShape("slow_conv_transpose3d.default", transposedKernelForm),
    anyShape("thnn_conv2d.default", kernelForm<false>),
    anyShape("_convolution.default", general),
    anyShape("_convolution.deprecated", general),
    anyShape("conv1d.default", forward),
    anyShape("conv1d.padding", forward),
    anyShape("conv2d.default", forward),
    anyShape("conv2d.padding", forward),
    anyShape("conv3d.default", forward),
    anyShape("conv3d.padding", forward),
    anyShape("conv_transpose1d.default", transposed),
    anyShape("conv_transpose2d.input", transposed),
    anyShape("conv_transpose3d.input", transposed),
    anyShape("convolution.default", general),
    anyShape("convolution_overrideable.default", general),
};

ArrayRef<LowerRuleRow> convLowerRules() { return kRows; }

} // namespace ft
