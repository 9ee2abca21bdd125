//===- FtReduce.td - Reductions and scans ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_ReduceCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let strides = kRowMajor;
  let device = kViewDevice;
  let recompute = kMemoryBound;
}

defvar kDimsConstraint =
  "each dim is in [−rank, rank) and stands once; none given means all";

def Ft_SumOp : Ft_ReduceCall<"sum"> {
  let summary = "sum of all elements";
  let semantics = "Σ self; integers and bools add up to i64, floats narrower "
                  "than float32 are summed in float32.";
  let constraints = ["none: every dtype is taken"];
  let gradient = "dy expanded.";
  let example = "%y = ft.sum(%x) : (tensor<2x3xf32>) -> tensor<f32>";
}
def Ft_SumDimIntListOp : Ft_ReduceCall<"sum.dim_IntList"> {
  let summary = "sum along dims";
  let semantics = "Σ self over dim; keepdim leaves the dims as 1.";
  let constraints = [kDimsConstraint];
  let gradient = "dy expanded.";
  let example = "%y = ft.sum.dim_IntList(%x, [1]) : (tensor<2x3xf32>) -> "
                "tensor<2xf32>";
}
def Ft_MeanOp : Ft_ReduceCall<"mean"> {
  let summary = "mean of all elements";
  let semantics = "Σ self / count; NaN of no elements.";
  let constraints = ["self is floating or complex, or dtype says so"];
  let gradient = "dy / count expanded.";
  let example = "%y = ft.mean(%x) : (tensor<2x3xf32>) -> tensor<f32>";
}
def Ft_MeanDimOp : Ft_ReduceCall<"mean.dim"> {
  let summary = "mean along dims";
  let semantics = "Σ self / count over dim; keepdim leaves the dims as 1.";
  let constraints = [kDimsConstraint,
                     "self is floating or complex, or dtype says so"];
  let gradient = "dy / count expanded.";
  let example = "%y = ft.mean.dim(%x, [1]) : (tensor<2x3xf32>) -> "
                "tensor<2xf32>";
}
def Ft_AmaxOp : Ft_ReduceCall<"amax"> {
  let summary = "largest element along dims";
  let semantics = "max self over dim; NaN wins.";
  let constraints = [kDimsConstraint, "no reduced dim has size 0"];
  let gradient = "dy shared equally by the elements that are largest.";
  let example = "%y = ft.amax(%x, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>";
}
def Ft_AminOp : Ft_ReduceCall<"amin"> {
  let summary = "smallest element along dims";
  let semantics = "min self over dim; NaN wins.";
  let constraints = [kDimsConstraint, "no reduced dim has size 0"];
  let gradient = "dy shared equally by the elements that are smallest.";
  let example = "%y = ft.amin(%x, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>";
}
def Ft_ArgmaxOp : Ft_ReduceCall<"argmax"> {
  let summary = "position of the largest element";
  let semantics = "the first largest along dim, or in row-major order; NaN is "
                  "largest.";
  let constraints = ["dim, if given, is in [−rank, rank) and not of size 0"];
  let gradient = kNoGradient # "the result is an index";
  let example = "%y = ft.argmax(%x, 1) : (tensor<2x3xf32>) -> tensor<2xi64>";
}
def Ft_MaxDimOp : Ft_ReduceCall<"max.dim"> {
  let summary = "largest element along a dim and its position";
  let semantics = "values and positions (i64) of the first largest; NaN wins.";
  let constraints = ["dim is in [−rank, rank) and not of size 0"];
  let gradient = "dy at the positions.";
  let example = "%y:2 = ft.max.dim(%x, 1) : (tensor<2x3xf32>) -> "
                "(tensor<2xf32>, tensor<2xi64>)";
}
def Ft_VarCorrectionOp : Ft_ReduceCall<"var.correction"> {
  let summary = "variance along dims";
  let semantics = "Σ |self − mean|² / max(0, count − correction) over dim; "
                  "correction is 1 if not given.";
  let constraints = [kDimsConstraint, "self is floating or complex"];
  let gradient = "2 · (self − mean) · dy / (count − correction).";
  let example = "%y = ft.var.correction(%x, [1]) : (tensor<2x3xf32>) -> "
                "tensor<2xf32>";
}
def Ft_AnyDimOp : Ft_ReduceCall<"any.dim"> {
  let summary = "whether an element along a dim is nonzero";
  let semantics = "bool, or u8 from u8; false of no elements.";
  let constraints = ["dim is in [−rank, rank)"];
  let gradient = kNoGradient # "the result is bool";
  let example = "%y = ft.any.dim(%x, 1) : (tensor<2x3xi1>) -> tensor<2xi1>";
}
def Ft_CumsumOp : Ft_ReduceCall<"cumsum"> {
  let summary = "running sum along a dim";
  let semantics = "y[i] = Σ_{j ≤ i} self[j]; integers and bools add up to i64.";
  let constraints = ["dim is in [−rank, rank)"];
  let gradient = "the running sum of dy from the end.";
  let example = "%y = ft.cumsum(%x, 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>";
}
