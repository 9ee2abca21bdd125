//===- FtIndexing.td - Elements chosen by other tensors ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_IndexCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let recompute = kMemoryBound;
}

defvar kIndexAtRunTime =
  "an index out of range is an error when the model runs";

def Ft_IndexOp : Ft_IndexCall<"index"> {
  let summary = "elements at the positions that tensors give";
  let semantics = "numpy's advanced indexing: the index tensors are broadcast; "
                  "their dims stand where they index if these dims are "
                  "adjacent and in front otherwise; an absent one keeps its dim; "
                  "a bool one stands for the positions where it is true.";
  let constraints = ["indices are i64, i32, i8, bool or u8",
                     "there are at most as many as self has dims",
                     "they broadcast; a bool one has the sizes that it covers",
                     kIndexAtRunTime];
  let strides = "dense; kept dims in self's order of strides, row-major for "
                "row-major data";
  let device = "that of self; indices may be on the CPU";
  let gradient = "zeros with dy added at the positions.";
  let example = "%y = ft.index(%x, [none, %i]) : (tensor<2x3xf32>, "
                "tensor<4xi64>) -> tensor<2x4xf32>";
}

def Ft_IndexPutOp : Ft_IndexCall<"index_put"> {
  let summary = "a tensor with elements at given positions replaced";
  let semantics = "self with values at the positions of index; accumulate adds "
                  "instead, also where a position stands twice.";
  let constraints = ["those of index on indices",
                     "values broadcast to the indexed shape and have self's "
                     "dtype", kIndexAtRunTime];
  let strides = "those of self if dense, row-major otherwise";
  let device = "that of self; a 0-dim value may be on the CPU";
  let gradient = "d self = dy with zeros at the positions (dy with "
                 "accumulate), d values = dy at them.";
  let example = "%y = ft.index_put(%x, [%i], %v) : (tensor<3xf32>, "
                "tensor<2xi64>, tensor<2xf32>) -> tensor<3xf32>";
}

def Ft_GatherOp : Ft_IndexCall<"gather"> {
  let summary = "elements along a dim at given positions";
  let semantics = "y[…, i, …] = self[…, index[…, i, …], …].";
  let constraints = ["dim is in [−rank, rank)", "index is i64 or i32",
                     "index has self's rank and, but for dim, no larger size",
                     kIndexAtRunTime];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "zeros with dy added at the positions.";
  let example = "%y = ft.gather(%x, 1, %i) : (tensor<2x3xf32>, "
                "tensor<2x1xi64>) -> tensor<2x1xf32>";
}

def Ft_IndexSelectOp : Ft_IndexCall<"index_select"> {
  let summary = "positions of a dim in a given order";
  let semantics = "y[…, i, …] = self[…, index[i], …].";
  let constraints = ["dim is in [−rank, rank)",
                     "index is i64 or i32 and has rank 1 or 0",
                     kIndexAtRunTime];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "zeros with dy added at the positions.";
  let example = "%y = ft.index_select(%x, 1, %i) : (tensor<2x3xf32>, "
                "tensor<4xi64>) -> tensor<2x4xf32>";
}

def Ft_EmbeddingOp : Ft_IndexCall<"embedding"> {
  let summary = "rows of a table";
  let semantics = "y[…, :] = weight[indices[…], :].";
  let constraints = ["weight has rank 2", "indices is i64 or i32",
                     kIndexAtRunTime];
  let strides = kRowMajor;
  let device = kStrictDevice;
  let gradient = "zeros with dy added at the rows, but for padding_idx; "
                 "divided by how often a row stands with scale_grad_by_freq.";
  let example = "%y = ft.embedding(%w, %i) : (tensor<50x16xf32>, "
                "tensor<2x8xi64>) -> tensor<2x8x16xf32>";
}

def Ft_TopkOp : Ft_IndexCall<"topk"> {
  let summary = "the k largest elements along a dim, and where they stand";
  let semantics = "values and positions (i64) in falling order, or the "
                  "smallest in rising order; of equal ones the first; NaN is "
                  "largest.";
  let constraints = ["dim is in [−rank, rank)", "0 ≤ k ≤ its size"];
  let strides = kRowMajor;
  let device = kViewDevice;
  let gradient = "dy at the positions.";
  let example = "%y:2 = ft.topk(%x, 2) : (tensor<2x4xf32>) -> "
                "(tensor<2x2xf32>, tensor<2x2xi64>)";
}
