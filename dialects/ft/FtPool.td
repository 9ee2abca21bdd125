//===- FtPool.td - Pooling ---------------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_PoolCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let strides = "channels-last if self suggests it, row-major otherwise";
  let device = kViewDevice;
  let recompute = kMemoryBound;
}

defvar kPoolConstraints = [
  "self has rank 3 or 4, and no size but the batch is 0",
  "stride and dilation are positive; an empty stride is kernel_size",
  "padding is at most half of kernel_size",
  "no output size is less than 1; ceil_mode rounds up but drops a window that "
  "starts beyond the input and its left padding"];

def Ft_MaxPool2dOp : Ft_PoolCall<"max_pool2d"> {
  let summary = "largest element of each window";
  let semantics = "the maximum over each window; NaN wins; padding is −∞.";
  let constraints = kPoolConstraints;
  let gradient = "dy goes to the first largest element of its window.";
  let example = "%y = ft.max_pool2d(%x, [2, 2]) : (tensor<2x3x8x8xf32>) -> "
                "tensor<2x3x4x4xf32>";
}

def Ft_MaxPool2dWithIndicesOp : Ft_PoolCall<"max_pool2d_with_indices"> {
  let summary = "largest element of each window, and where it stands";
  let semantics = "max_pool2d, and as i64 the position h · W + w of the first "
                  "largest element in its channel.";
  let constraints = kPoolConstraints;
  let gradient = "dy is added at the positions.";
  let example = "%y:2 = ft.max_pool2d_with_indices(%x, [2, 2]) : "
                "(tensor<2x3x8x8xf32>) -> (tensor<2x3x4x4xf32>, "
                "tensor<2x3x4x4xi64>)";
}

def Ft_AvgPool2dOp : Ft_PoolCall<"avg_pool2d"> {
  let summary = "mean of each window";
  let semantics = "the sum over each window divided by divisor_override, by "
                  "the window's size with count_include_pad, else by the "
                  "number of elements inside.";
  let constraints = !listconcat(kPoolConstraints, [
    "divisor_override, if given, is not 0"]);
  let gradient = "dy over the divisor, added to each element of its window.";
  let example = "%y = ft.avg_pool2d(%x, [2, 2]) : (tensor<2x3x8x8xf32>) -> "
                "tensor<2x3x4x4xf32>";
}

def Ft_AdaptiveAvgPool2dOp : Ft_PoolCall<"adaptive_avg_pool2d"> {
  let summary = "mean of each of a given number of windows";
  let semantics = "output i averages the rows from ⌊i · H / out⌋ to "
                  "⌈(i + 1) · H / out⌉, the columns likewise.";
  let constraints = ["self has rank 3 or 4, and no size but the batch is 0",
                     "output_size has two entries, not negative"];
  let gradient = "dy over the window's size, added to each of its elements.";
  let example = "%y = ft.adaptive_avg_pool2d(%x, [1, 1]) : "
                "(tensor<2x3x8x8xf32>) -> tensor<2x3x1x1xf32>";
}
