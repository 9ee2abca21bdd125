//===- FtShape.td - Tensors put together and made ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_JoinCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let recompute = kMemoryBound;
}

def Ft_CatOp : Ft_JoinCall<"cat"> {
  let summary = "tensors one after the other along a dim";
  let semantics = "y has the sum of their sizes in dim; a tensor of shape [0] "
                  "is left out but counts for the dtype.";
  let constraints = ["there is at least one tensor",
                     "all have one rank and, but for dim, the same sizes",
                     "dim is in [−rank, rank)", "their dtypes promote to one"];
  let strides = "channels-last if every tensor suggests it, else row-major";
  let device = kStrictDevice;
  let gradient = "the pieces of dy.";
  let example = "%y = ft.cat([%a, %b], 1) : (tensor<2x3xf32>, tensor<2x1xf32>) "
                "-> tensor<2x4xf32>";
}

def Ft_StackOp : Ft_JoinCall<"stack"> {
  let summary = "tensors as the positions of a new dim";
  let semantics = "y[…, i, …] = tensors[i][…].";
  let constraints = ["there is at least one tensor, all have one shape",
                     "dim is in [−rank − 1, rank]",
                     "their dtypes promote to one"];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "the positions of dy.";
  let example = "%y = ft.stack([%a, %b]) : (tensor<3xf32>, tensor<3xf32>) -> "
                "tensor<2x3xf32>";
}

def Ft_ConstantPadNdOp : Ft_JoinCall<"constant_pad_nd"> {
  let summary = "a number around a tensor";
  let semantics = "pad has two entries for each dim from the last: before and "
                  "after; negative ones cut.";
  let constraints = ["pad has an even number of entries, at most two for each "
                     "dim", "no size becomes negative"];
  let strides = "channels-last if self suggests it, row-major otherwise";
  let device = kViewDevice;
  let gradient = "dy without the padding.";
  let example = "%y = ft.constant_pad_nd(%x, [1, 1]) : (tensor<2x3xf32>) -> "
                "tensor<2x5xf32>";
}

def Ft_RepeatOp : Ft_JoinCall<"repeat"> {
  let summary = "a tensor laid out several times along its dims";
  let semantics = "y[i…] = self[i mod size…]; more repeats than dims add dims "
                  "in front.";
  let constraints = ["repeats has at least self's rank and no negative entry"];
  let strides = kRowMajor;
  let device = kViewDevice;
  let gradient = "dy summed over the repeats.";
  let example = "%y = ft.repeat(%x, [2, 1]) : (tensor<3xf32>) -> "
                "tensor<2x3xf32>";
}

class Ft_FactoryCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let strides = kRowMajor;
  let device = "the given one, else the CPU";
  let gradient = kNoGradient # "no tensor goes in";
  let recompute = kCheap;
}

/// Made in the likeness of a tensor.
class Ft_LikeCall<string opMnemonic> : Ft_FactoryCall<opMnemonic> {
  let device = "the given one, else that of self";
  let gradient = kNoGradient # "self's values are not read";
}

def Ft_ArangeStartStepOp : Ft_FactoryCall<"arange.start_step"> {
  let summary = "numbers from start to end";
  let semantics = "y[i] = start + i · step while before end; i64 if all three "
                  "are integers and no dtype is given.";
  let constraints = ["step is not 0 and leads from start to end"];
  let example = "%y = ft.arange.start_step(0, 8, 2) : () -> tensor<4xi64>";
}
def Ft_ArangeOp : Ft_FactoryCall<"arange"> {
  let summary = "numbers from zero to end";
  let semantics = "arange.start_step from 0 by 1.";
  let constraints = ["end is not negative"];
  let example = "%y = ft.arange(4) : () -> tensor<4xi64>";
}
def Ft_FullOp : Ft_FactoryCall<"full"> {
  let summary = "one number everywhere";
  let semantics = "y = fill_value; its kind gives the dtype if none is given.";
  let constraints = ["no entry of size is negative"];
  let example = "%y = ft.full([2, 3], 1.0) : () -> tensor<2x3xf32>";
}
def Ft_ZerosOp : Ft_FactoryCall<"zeros"> {
  let summary = "zeros";
  let semantics = "y = 0; float32 if no dtype is given.";
  let constraints = ["no entry of size is negative"];
  let example = "%y = ft.zeros([2, 3]) : () -> tensor<2x3xf32>";
}
def Ft_OnesOp : Ft_FactoryCall<"ones"> {
  let summary = "ones";
  let semantics = "y = 1; float32 if no dtype is given.";
  let constraints = ["no entry of size is negative"];
  let example = "%y = ft.ones([2, 3]) : () -> tensor<2x3xf32>";
}
def Ft_ScalarTensorOp : Ft_FactoryCall<"scalar_tensor"> {
  let summary = "a number as a tensor of rank 0";
  let semantics = "y = s; float32 if no dtype is given.";
  let constraints = ["s is a number"];
  let example = "%y = ft.scalar_tensor(1.0) : () -> tensor<f32>";
}
def Ft_FullLikeOp : Ft_LikeCall<"full_like"> {
  let summary = "one number in the shape of a tensor";
  let semantics = "y = fill_value; self's dtype if none is given.";
  let constraints = ["memory_format fits self's rank"];
  let strides = "those of self if dense, its order of dims made dense "
                "otherwise";
  let example = "%y = ft.full_like(%x, 1.0) : (tensor<3xf32>) -> tensor<3xf32>";
}
def Ft_ZerosLikeOp : Ft_LikeCall<"zeros_like"> {
  let summary = "zeros in the shape of a tensor";
  let semantics = "full_like with 0.";
  let constraints = ["memory_format fits self's rank"];
  let strides = "those of self if dense, its order of dims made dense "
                "otherwise";
  let example = "%y = ft.zeros_like(%x) : (tensor<3xf32>) -> tensor<3xf32>";
}
def Ft_NewZerosOp : Ft_LikeCall<"new_zeros"> {
  let summary = "zeros of a tensor's dtype and device";
  let semantics = "y = 0 of the given size.";
  let constraints = ["no entry of size is negative"];
  let example = "%y = ft.new_zeros(%x, [2]) : (tensor<3xf32>) -> tensor<2xf32>";
}
def Ft_NewOnesOp : Ft_LikeCall<"new_ones"> {
  let summary = "ones of a tensor's dtype and device";
  let semantics = "y = 1 of the given size.";
  let constraints = ["no entry of size is negative"];
  let example = "%y = ft.new_ones(%x, [2]) : (tensor<3xf32>) -> tensor<2xf32>";
}

class Ft_DropoutCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let constraints = ["p is in [0, 1]"];
  let device = kViewDevice;
  let gradient = "dy where kept, times 1 / (1 − p); dy itself outside "
                 "training.";
  let recompute = kRandom;
}
def Ft_DropoutOp : Ft_DropoutCall<"dropout"> {
  let summary = "elements set to zero at random, in training";
  let semantics = "with train, each element is 0 with probability p and "
                  "input / (1 − p) otherwise; else input itself.";
  let strides = "those of input if dense, its order of dims made dense "
                "otherwise";
  let example = "%y = ft.dropout(%x, 0.5, true) : (tensor<3xf32>) -> "
                "tensor<3xf32>";
}
def Ft_DropoutInPlaceOp : Ft_DropoutCall<"dropout_"> {
  let summary = "elements of a tensor set to zero at random, in training";
  let semantics = "self ← dropout(self, p, train); the result is self.";
  let strides = "those of self, which the result is";
  let recompute = kNever;
  let example = "%r = ft.dropout_(%x, 0.5, true) : (tensor<3xf32>) -> "
                "tensor<3xf32>";
}
