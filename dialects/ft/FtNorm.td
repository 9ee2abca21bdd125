//===- FtNorm.td - Normalizations --------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_NormCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let device = kStrictDevice;
  let recompute = kMemoryBound;
}

defvar kLayerNormConstraints = [
  "normalized_shape has at least one entry and is the tail of input's shape",
  "weight and bias, if given, have exactly that shape",
  "input is floating"];

def Ft_LayerNormOp : Ft_NormCall<"layer_norm"> {
  let summary = "normalization over the last dims";
  let semantics = "y = (input − mean) / √(var + eps) · weight + bias, mean and "
                  "(biased) variance over the dims of normalized_shape.";
  let constraints = kLayerNormConstraints;
  let strides = kRowMajor;
  let gradient = "one layer_norm_backward from input, mean and 1/√(var + eps).";
  let example = "%y = ft.layer_norm(%x, [64], %w, %b) : (tensor<2x64xf32>, "
                "tensor<64xf32>, tensor<64xf32>) -> tensor<2x64xf32>";
}

def Ft_NativeLayerNormOp : Ft_NormCall<"native_layer_norm"> {
  let summary = "normalization over the last dims, with its statistics";
  let semantics = "layer_norm, and as second and third result mean and "
                  "1/√(var + eps), with the normalized dims as 1.";
  let constraints = kLayerNormConstraints;
  let strides = kRowMajor;
  let gradient = "one layer_norm_backward; the statistics have none.";
  let example = "%y:3 = ft.native_layer_norm(%x, [64], %w, %b, 1.0e-05) : "
                "(tensor<2x64xf32>, tensor<64xf32>, tensor<64xf32>) -> "
                "(tensor<2x64xf32>, tensor<2x1xf32>, tensor<2x1xf32>)";
}

defvar kBatchNormConstraints = [
  "input has at least two dims, the second being the channels",
  "weight, bias, running_mean and running_var, if given, have one entry for "
  "each channel",
  "without training both running statistics are given"];

def Ft_BatchNormOp : Ft_NormCall<"batch_norm"> {
  let summary = "normalization of each channel over the batch";
  let semantics = "y = (input − mean) / √(var + eps) · weight + bias for each "
                  "channel: in training from the batch (which also updates the "
                  "running statistics, the variance unbiased), else from the "
                  "running statistics.";
  let constraints = kBatchNormConstraints;
  let strides = "channels-last if input suggests it, row-major otherwise";
  let gradient = "one batch_norm_backward from input and the saved statistics; "
                 "outside training they are constants.";
  let example = "%y = ft.batch_norm(%x, %w, %b, %m, %v, false, 0.1, 1.0e-05, "
                "true) : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, "
                "tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>";
}

def Ft_NativeGroupNormOp : Ft_NormCall<"native_group_norm"> {
  let summary = "normalization of groups of channels, with its statistics";
  let semantics = "the N · group rows of C/group channels and HxW positions "
                  "are normalized by their own mean and variance, then scaled "
                  "by weight and bias of each channel; mean and 1/√(var + eps) "
                  "are [N, group].";
  let constraints = ["group divides C", "input has N · C · HxW elements",
                     "weight and bias, if given, have C entries"];
  let strides = "channels-last if input is, row-major otherwise";
  let gradient = "one group_norm_backward; the statistics have none.";
  let example = "%y:3 = ft.native_group_norm(%x, none, none, 2, 8, 16, 4, "
                "1.0e-05) : (tensor<2x8x4x4xf32>) -> (tensor<2x8x4x4xf32>, "
                "tensor<2x4xf32>, tensor<2x4xf32>)";
}

def Ft_GroupNormOp : Ft_NormCall<"group_norm"> {
  let summary = "normalization of groups of channels";
  let semantics = "native_group_norm without the statistics.";
  let constraints = ["num_groups divides the channels",
                     "weight and bias, if given, have one entry for each "
                     "channel"];
  let strides = "channels-last if input is, row-major otherwise";
  let gradient = "that of native_group_norm.";
  let example = "%y = ft.group_norm(%x, 4) : (tensor<2x8x4x4xf32>) -> "
                "tensor<2x8x4x4xf32>";
}

def Ft_RmsNormOp : Ft_NormCall<"rms_norm"> {
  let summary = "division by the root mean square over the last dims";
  let semantics = "y = input / √(mean(input²) + eps) · weight over the dims of "
                  "normalized_shape; eps is the dtype's epsilon if not given.";
  let constraints = ["normalized_shape is the tail of input's shape",
                     "weight, if given, has exactly that shape",
                     "input is floating"];
  let strides = kRowMajor;
  let gradient = "as for layer_norm without the mean.";
  let example = "%y = ft.rms_norm(%x, [64], %w, 1.0e-06) : (tensor<2x64xf32>, "
                "tensor<64xf32>) -> tensor<2x64xf32>";
}
