//===- FtSoftmax.td - Softmax and attention ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_SoftmaxCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let constraints = ["dim is in [−rank, rank)", "self is floating, unless "
                     "dtype says what to compute in"];
  let strides = kRowMajor;
  let device = kViewDevice;
  let recompute = kMemoryBound;
}

def Ft_SoftmaxIntOp : Ft_SoftmaxCall<"softmax.int"> {
  let summary = "exponentials divided by their sum along a dim";
  let semantics = "y = exp(self − max) / Σ exp(self − max), sums in float32 "
                  "for narrower floats; with dtype, self is converted first.";
  let gradient = "d self = y · (dy − Σ y · dy).";
  let example = "%y = ft.softmax.int(%x, -1) : (tensor<2x16xf32>) -> "
                "tensor<2x16xf32>";
}

def Ft_UnderscoreSoftmaxOp : Ft_SoftmaxCall<"_softmax"> {
  let summary = "softmax as decomposed graphs have it";
  let semantics = "softmax.int; half_to_float gives float32 from float16.";
  let gradient = "d self = y · (dy − Σ y · dy).";
  let example = "%y = ft._softmax(%x, -1, false) : (tensor<2x16xf32>) -> "
                "tensor<2x16xf32>";
}

def Ft_LogSoftmaxIntOp : Ft_SoftmaxCall<"log_softmax.int"> {
  let summary = "logarithm of the softmax along a dim";
  let semantics = "y = self − max − log Σ exp(self − max).";
  let gradient = "d self = dy − exp(y) · Σ dy.";
  let example = "%y = ft.log_softmax.int(%x, -1) : (tensor<2x16xf32>) -> "
                "tensor<2x16xf32>";
}

def Ft_UnderscoreLogSoftmaxOp : Ft_SoftmaxCall<"_log_softmax"> {
  let summary = "logarithm of the softmax as decomposed graphs have it";
  let semantics = "log_softmax.int; half_to_float gives float32 from float16.";
  let gradient = "d self = dy − exp(y) · Σ dy.";
  let example = "%y = ft._log_softmax(%x, -1, false) : (tensor<2x16xf32>) -> "
                "tensor<2x16xf32>";
}

def Ft_ScaledDotProductAttentionOp
    : Ft_Call<"scaled_dot_product_attention"> {
  let summary = "attention of queries over keys and values";
  let semantics = "softmax(query · keyᵀ · scale + mask) · value over the last "
                  "two dims; scale is 1/√E if not given; a bool mask keeps "
                  "what is true, a floating one is added, is_causal masks what "
                  "lies above the diagonal. A row without any key gives zeros.";
  let constraints = [
    "query, key and value have rank 2 or more and equal dtypes",
    "query and key agree in the last size, key and value in the last but one",
    "the leading dims broadcast; with enable_gqa the heads of query are a "
    "multiple of those of key",
    "attn_mask broadcasts to the scores and is not given with is_causal"];
  let strides = "dense, dims in the order of query's";
  let device = kStrictDevice;
  let gradient = "one attention backward that recomputes the scores from the "
                 "row maxima and sums.";
  let recompute = kComputeBound;
  let example = "%y = ft.scaled_dot_product_attention(%q, %k, %v, none, 0.0, "
                "true) : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, "
                "tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>";
}
