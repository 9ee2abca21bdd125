//===- FtLoss.td - Losses ----------------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_LossCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let strides = "none for reduction 1 (mean) and 2 (sum), whose result has "
                "rank 0; row-major for 0";
  let device = kStrictDevice;
  let recompute = kMemoryBound;
}

def Ft_CrossEntropyLossOp : Ft_LossCall<"cross_entropy_loss"> {
  let summary = "negative log-likelihood of the softmax";
  let semantics = "−log softmax(self)[target], weighted by weight[target], "
                  "smoothed by label_smoothing; targets equal to ignore_index "
                  "count nothing; a floating target is a distribution. The "
                  "mean divides by the sum of the weights that count.";
  let constraints = [
    "the classes are dim 1 of self, or dim 0 if it has rank 1",
    "target has self's shape without the classes, or self's shape if floating",
    "weight, if given, has one entry for each class",
    "a class index outside [0, C) is an error when the model runs"];
  let gradient = "d self = (softmax(self) − one_hot(target)) · dy, scaled as "
                 "the loss is.";
  let example = "%y = ft.cross_entropy_loss(%x, %t) : (tensor<4x10xf32>, "
                "tensor<4xi64>) -> tensor<f32>";
}

def Ft_NllLossForwardOp : Ft_LossCall<"nll_loss_forward"> {
  let summary = "negative entry of each row at its target";
  let semantics = "−self[i, target[i]] · weight[target[i]], reduced; the "
                  "second result is the sum of the weights that count.";
  let constraints = ["self has rank 1 or 2, target one less",
                     "weight, if given, has one entry for each class"];
  let gradient = "−dy · weight at the targets, divided as the loss is.";
  let example = "%y:2 = ft.nll_loss_forward(%x, %t, none, 1, -100) : "
                "(tensor<4x10xf32>, tensor<4xi64>) -> (tensor<f32>, "
                "tensor<f32>)";
}

def Ft_MseLossOp : Ft_LossCall<"mse_loss"> {
  let summary = "squared difference";
  let semantics = "(self − target)², reduced.";
  let constraints = ["self and target broadcast"];
  let gradient = "d self = 2 · (self − target) · dy, over the count for the "
                 "mean; d target is its negative.";
  let example = "%y = ft.mse_loss(%x, %t) : (tensor<4xf32>, tensor<4xf32>) -> "
                "tensor<f32>";
}
