//===- FtMatmul.td - Matrix products -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

def Ft_LinearOp : Ft_Call<"linear"> {
  let summary = "product with the transpose of a weight, plus a bias";
  let semantics = "y[…, n] = Σ_k input[…, k] · weight[n, k] + bias[n].";
  let constraints = [
    "weight has rank 2 or 1, bias (if given) rank 1 or 0",
    "the last size of input is the last size of weight",
    "all dtypes are equal"];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "d input = dy · weight, d weight = dyᵀ · input with the "
                 "leading dims as one, d bias = the sum of dy over them.";
  let recompute = kComputeBound;
  let example = "%y = ft.linear(%x, %w, %b) : (tensor<2x16xf32>, "
                "tensor<64x16xf32>, tensor<64xf32>) -> tensor<2x64xf32>";
}

def Ft_MmOp : Ft_Call<"mm"> {
  let summary = "product of two matrices";
  let semantics = "y[i, j] = Σ_k self[i, k] · mat2[k, j].";
  let constraints = ["both have rank 2", "self's columns are mat2's rows",
                     "both dtypes are equal"];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "d self = dy · mat2ᵀ, d mat2 = selfᵀ · dy.";
  let recompute = kComputeBound;
  let example = "%y = ft.mm(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> "
                "tensor<2x4xf32>";
}

def Ft_AddmmOp : Ft_Call<"addmm"> {
  let summary = "product of two matrices, added to a third";
  let semantics = "y = beta · self + alpha · (mat1 · mat2); self is broadcast. "
                  "beta = 0 ignores self, NaN included.";
  let constraints = ["mat1 and mat2 have rank 2",
                     "mat1's columns are mat2's rows",
                     "self broadcasts to the product", "all dtypes are equal"];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "d self = beta · dy, summed over what was broadcast; "
                 "d mat1 = alpha · dy · mat2ᵀ, d mat2 = alpha · mat1ᵀ · dy.";
  let recompute = kComputeBound;
  let example = "%y = ft.addmm(%c, %a, %b) : (tensor<4xf32>, tensor<2x3xf32>, "
                "tensor<3x4xf32>) -> tensor<2x4xf32>";
}

def Ft_BmmOp : Ft_Call<"bmm"> {
  let summary = "products of two batches of matrices";
  let semantics = "y[b, i, j] = Σ_k self[b, i, k] · mat2[b, k, j].";
  let constraints = ["both have rank 3", "both batch sizes are equal",
                     "self's columns are mat2's rows",
                     "both dtypes are equal"];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "as for mm, for each matrix of the batch.";
  let recompute = kComputeBound;
  let example = "%y = ft.bmm(%a, %b) : (tensor<8x2x3xf32>, tensor<8x3x4xf32>) "
                "-> tensor<8x2x4xf32>";
}

def Ft_BaddbmmOp : Ft_Call<"baddbmm"> {
  let summary = "products of two batches of matrices, added to a third batch";
  let semantics = "y = beta · self + alpha · bmm(batch1, batch2); self is "
                  "broadcast. beta = 0 ignores self, NaN included.";
  let constraints = ["batch1 and batch2 have rank 3 and equal batch sizes",
                     "batch1's columns are batch2's rows",
                     "self broadcasts to the product", "all dtypes are equal"];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "as for addmm, for each matrix of the batch.";
  let recompute = kComputeBound;
  let example = "%y = ft.baddbmm(%c, %a, %b) : (tensor<8x2x4xf32>, "
                "tensor<8x2x3xf32>, tensor<8x3x4xf32>) -> tensor<8x2x4xf32>";
}

def Ft_MvOp : Ft_Call<"mv"> {
  let summary = "product of a matrix and a vector";
  let semantics = "y[i] = Σ_k self[i, k] · vec[k].";
  let constraints = ["self has rank 2, vec rank 1",
                     "self's columns are vec's size", "both dtypes are equal"];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "d self = dy ⊗ vec, d vec = selfᵀ · dy.";
  let recompute = kComputeBound;
  let example = "%y = ft.mv(%a, %x) : (tensor<2x3xf32>, tensor<3xf32>) -> "
                "tensor<2xf32>";
}

def Ft_DotOp : Ft_Call<"dot"> {
  let summary = "inner product of two vectors";
  let semantics = "y = Σ_k self[k] · tensor[k], without conjugation.";
  let constraints = ["both have rank 1 and equal sizes",
                     "both dtypes are equal"];
  let strides = "none: the result has rank 0";
  let device = kStrictDevice;
  let gradient = "d self = dy · tensor, d tensor = dy · self.";
  let recompute = kMemoryBound;
  let example = "%y = ft.dot(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> "
                "tensor<f32>";
}

def Ft_MatmulOp : Ft_Call<"matmul"> {
  let summary = "product of vectors, matrices or batches of matrices";
  let semantics = "ranks 1 and 1: dot; 2 and 1: mv; 2 and 2: mm; 1 and more: a "
                  "leading 1 is added and taken away; else the leading dims "
                  "are broadcast and the last two multiplied.";
  let constraints = ["no operand has rank 0",
                     "the last size of self is the last but one of other",
                     "the leading dims broadcast", "both dtypes are equal"];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "that of mm, mv or bmm; sums over what was broadcast.";
  let recompute = kComputeBound;
  let example = "%y = ft.matmul(%a, %b) : (tensor<8x2x3xf32>, tensor<3x4xf32>) "
                "-> tensor<8x2x4xf32>";
}
