//===- FtConv.td - Convolutions ----------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

defvar kConvStrides =
  "channels-last if input or weight suggests it, row-major otherwise; a "
  "batch of 0, an input without a batch dim and 1-d data give row-major; "
  "float64 on the CPU keeps channels-last for 2-d data only";
defvar kConvGradient =
  "one convolution_backward: d input is the transposed convolution of dy "
  "with weight, d weight correlates input with dy, d bias sums dy over all "
  "dims but the channels.";

class Ft_ConvCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let strides = kConvStrides;
  let device = kStrictDevice;
  let gradient = kConvGradient;
  let recompute = kComputeBound;
}

defvar kConvConstraints = [
  "input has the rank of weight, or one less (no batch dim)",
  "input's channels are groups times those of weight",
  "groups divides the output channels",
  "stride and dilation are positive, padding is not negative",
  "no output size is negative, and the window fits the padded input",
  "dtypes of input and weight are equal"];

def Ft_Conv1dOp : Ft_ConvCall<"conv1d"> {
  let summary = "convolution over one dim";
  let semantics = "y[n, o, x] = bias[o] + Σ_{c, r} input[n, c, x · stride + r "
                  "· dilation − padding] · weight[o, c, r], zeros outside.";
  let constraints = kConvConstraints;
  let example = "%y = ft.conv1d(%x, %w, %b, [2], [1]) : (tensor<2x8x16xf32>, "
                "tensor<4x8x3xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>";
}

def Ft_Conv2dOp : Ft_ConvCall<"conv2d"> {
  let summary = "convolution over two dims";
  let semantics = "y[n, o, y, x] = bias[o] + Σ_{c, r, s} input[n, c, y · "
                  "stride + r · dilation − padding, …] · weight[o, c, r, s], "
                  "zeros outside.";
  let constraints = kConvConstraints;
  let example = "%y = ft.conv2d(%x, %w, none, [2, 2], [3, 3]) : "
                "(tensor<2x3x32x32xf32>, tensor<8x3x7x7xf32>) -> "
                "tensor<2x8x16x16xf32>";
}

def Ft_ConvTranspose2dInputOp : Ft_ConvCall<"conv_transpose2d.input"> {
  let summary = "transposed convolution over two dims";
  let semantics = "the adjoint of conv2d in its input: each input element adds "
                  "its multiple of the weight's window to the output.";
  let constraints = !listconcat(kConvConstraints, [
    "output_padding is less than stride or dilation"]);
  let example = "%y = ft.conv_transpose2d.input(%x, %w, none, [2, 2]) : "
                "(tensor<2x8x4x4xf32>, tensor<8x3x2x2xf32>) -> "
                "tensor<2x3x8x8xf32>";
}

def Ft_ConvolutionOp : Ft_ConvCall<"convolution"> {
  let summary = "convolution, transposed or not, over one to three dims";
  let semantics = "conv1d, conv2d, conv3d, or with transposed = true their "
                  "adjoint.";
  let constraints = kConvConstraints;
  let example = "%y = ft.convolution(%x, %w, none, [1, 1], [1, 1], [1, 1], "
                "false, [0, 0], 1) : (tensor<2x3x8x8xf32>, "
                "tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>";
}
