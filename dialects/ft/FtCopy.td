//===- FtCopy.td - Copies, conversions and writes ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_CopyCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let recompute = kCheap;
}

defvar kPreservedStrides =
  "those of self if dense, its order of dims made dense otherwise; what "
  "memory_format says if given";

def Ft_CloneOp : Ft_CopyCall<"clone"> {
  let summary = "a copy";
  let semantics = "y = self in fresh memory.";
  let constraints = ["memory_format fits self's rank"];
  let strides = kPreservedStrides;
  let device = kViewDevice;
  let gradient = "dy.";
  let example = "%y = ft.clone(%x) : (tensor<3xf32>) -> tensor<3xf32>";
}

def Ft_ContiguousOp : Ft_CopyCall<"contiguous"> {
  let summary = "self if it is row-major, a row-major copy otherwise";
  let semantics = "y = self; channels-last with that memory_format.";
  let constraints = ["memory_format is not preserve_format and fits the rank"];
  let strides = "those of the format, self's own where it already has them";
  let device = kViewDevice;
  let gradient = "dy.";
  let example = "%y = ft.contiguous(%x) : (tensor<3xf32>) -> tensor<3xf32>";
}

class Ft_ToCall<string opMnemonic> : Ft_CopyCall<opMnemonic> {
  let semantics = "self itself if nothing changes and copy is false, otherwise "
                  "self converted: floats to integers toward zero, anything to "
                  "bool by ≠ 0, to narrower floats to the nearest even.";
  let constraints = ["complex converts to real only by dropping the imaginary "
                     "part"];
  let strides = kPreservedStrides;
  let gradient = "dy converted back.";
}

def Ft_ToDtypeOp : Ft_ToCall<"to.dtype"> {
  let summary = "conversion to a dtype";
  let device = kViewDevice;
  let example = "%y = ft.to.dtype(%x, float32) : (tensor<3xi64>) -> "
                "tensor<3xf32>";
}
def Ft_ToDtypeLayoutOp : Ft_ToCall<"to.dtype_layout"> {
  let summary = "conversion to a dtype, layout or device";
  let device = "the given one, else that of self";
  let example = "%y = ft.to.dtype_layout(%x, dtype = float32) : "
                "(tensor<3xi64>) -> tensor<3xf32>";
}
def Ft_ToDeviceOp : Ft_ToCall<"to.device"> {
  let summary = "conversion to a device and a dtype";
  let device = "the given one";
  let example = "%y = ft.to.device(%x, #ft.device<cpu>, float32) : "
                "(tensor<3xi64>) -> tensor<3xf32>";
}
def Ft_UnderscoreToCopyOp : Ft_ToCall<"_to_copy"> {
  let summary = "conversion that always copies";
  let device = "the given one, else that of self";
  let example = "%y = ft._to_copy(%x, dtype = float32) : (tensor<3xi64>) -> "
                "tensor<3xf32>";
}

def Ft_CopyInPlaceOp : Ft_CopyCall<"copy_"> {
  let summary = "a tensor's values written into another";
  let semantics = "self ← src, broadcast and converted; the result is self.";
  let constraints = ["src broadcasts to self"];
  let strides = "those of self, which the result is";
  let device = "that of self; src may be elsewhere";
  let gradient = "d src = dy summed over what was broadcast; self's old value "
                 "gets none.";
  let recompute = kNever;
  let example = "%r = ft.copy_(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> "
                "tensor<3xf32>";
}

def Ft_CopyOp : Ft_CopyCall<"copy"> {
  let summary = "a tensor with the values of another";
  let semantics = "src broadcast and converted to self's shape and dtype: what "
                  "copy_ leaves in self.";
  let constraints = ["src broadcasts to self"];
  let strides = "those of self";
  let device = "that of self";
  let gradient = "d src = dy summed over what was broadcast.";
  let example = "%y = ft.copy(%x, %v) : (tensor<3xf32>, tensor<3xf32>) -> "
                "tensor<3xf32>";
}

def Ft_FillInPlaceScalarOp : Ft_CopyCall<"fill_.Scalar"> {
  let summary = "a number written everywhere";
  let semantics = "self ← value; the result is self.";
  let constraints = ["value converts to self's dtype"];
  let strides = "those of self, which the result is";
  let device = kViewDevice;
  let gradient = "0 for self's old value.";
  let recompute = kNever;
  let example = "%r = ft.fill_.Scalar(%x, 0) : (tensor<3xf32>) -> "
                "tensor<3xf32>";
}

def Ft_ZeroInPlaceOp : Ft_CopyCall<"zero_"> {
  let summary = "zeros written everywhere";
  let semantics = "self ← 0; the result is self.";
  let constraints = ["none: every dtype is taken"];
  let strides = "those of self, which the result is";
  let device = kViewDevice;
  let gradient = "0 for self's old value.";
  let recompute = kNever;
  let example = "%r = ft.zero_(%x) : (tensor<3xf32>) -> tensor<3xf32>";
}

class Ft_ScatterViewCall<string opMnemonic> : Ft_CopyCall<opMnemonic> {
  let constraints = ["those of the view", "src has the shape of the view"];
  let strides = "those of self if dense, row-major otherwise";
  let device = "that of self";
  let gradient = "d self = dy with zeros in the view, d src = the view of dy.";
}
def Ft_SelectScatterOp : Ft_ScatterViewCall<"select_scatter"> {
  let summary = "a tensor with one position of a dim replaced";
  let semantics = "self with src in select.int(self, dim, index): what a write "
                  "through that view leaves.";
  let example = "%y = ft.select_scatter(%x, %s, 0, 1) : (tensor<2x3xf32>, "
                "tensor<3xf32>) -> tensor<2x3xf32>";
}
def Ft_SliceScatterOp : Ft_ScatterViewCall<"slice_scatter"> {
  let summary = "a tensor with a range of a dim replaced";
  let semantics = "self with src in slice(self, dim, start, end, step).";
  let example = "%y = ft.slice_scatter(%x, %s, 1, 0, 2) : (tensor<2x3xf32>, "
                "tensor<2x2xf32>) -> tensor<2x3xf32>";
}
def Ft_DiagonalScatterOp : Ft_ScatterViewCall<"diagonal_scatter"> {
  let summary = "a tensor with a diagonal replaced";
  let semantics = "self with src in diagonal(self, offset, dim1, dim2).";
  let example = "%y = ft.diagonal_scatter(%x, %s) : (tensor<2x3xf32>, "
                "tensor<2xf32>) -> tensor<2x3xf32>";
}
def Ft_AsStridedScatterOp : Ft_ScatterViewCall<"as_strided_scatter"> {
  let summary = "a tensor with any strided part replaced";
  let semantics = "self with src in as_strided(self, size, stride, offset).";
  let example = "%y = ft.as_strided_scatter(%x, %s, [2], [1]) : "
                "(tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>";
}
