//===- FtView.td - Views of a tensor's storage -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_ViewCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let device = kViewDevice;
  let recompute = kFree;
}

def Ft_ViewOp : Ft_ViewCall<"view"> {
  let summary = "the same elements under another shape, without a copy";
  let semantics = "y has the elements of self in row-major order; one entry of "
                  "size may be -1 and is worked out.";
  let constraints = ["the number of elements stays",
                     "at most one entry is -1, and then no other is 0",
                     "the new dims split or join dims of self whose strides "
                     "allow it; otherwise there is no view"];
  let strides = "dims are joined while their strides are contiguous to each "
                "other, and split row-major within";
  let gradient = "dy under self's shape.";
  let example = "%y = ft.view(%x, [2, -1]) : (tensor<2x3x4xf32>) -> "
                "tensor<2x12xf32>";
}

def Ft_ReshapeOp : Ft_ViewCall<"reshape"> {
  let summary = "the same elements under another shape";
  let semantics = "view where there is one, otherwise a row-major copy.";
  let constraints = ["the number of elements stays",
                     "at most one entry is -1, and then no other is 0"];
  let strides = "those of the view, or row-major";
  let gradient = "dy under self's shape.";
  let example = "%y = ft.reshape(%x, [2, -1]) : (tensor<2x3x4xf32>) -> "
                "tensor<2x12xf32>";
}

def Ft_UnderscoreUnsafeViewOp : Ft_ViewCall<"_unsafe_view"> {
  let summary = "view whose base nobody reads any more";
  let semantics = "as view; the result counts as fresh.";
  let constraints = ["those of view"];
  let strides = "those of view";
  let gradient = "dy under self's shape.";
  let example = "%y = ft._unsafe_view(%x, [6, 4]) : (tensor<2x3x4xf32>) -> "
                "tensor<6x4xf32>";
}

def Ft_FlattenUsingIntsOp : Ft_ViewCall<"flatten.using_ints"> {
  let summary = "dims start_dim to end_dim joined into one";
  let semantics = "reshape with the sizes of these dims multiplied; a tensor "
                  "of rank 0 becomes one of rank 1.";
  let constraints = ["both dims are in [−rank, rank)", "start_dim ≤ end_dim"];
  let strides = "those of reshape";
  let gradient = "dy under self's shape.";
  let example = "%y = ft.flatten.using_ints(%x, 1) : (tensor<2x3x4xf32>) -> "
                "tensor<2x12xf32>";
}

def Ft_UnflattenIntOp : Ft_ViewCall<"unflatten.int"> {
  let summary = "a dim split into several";
  let semantics = "view with dim replaced by sizes, one of which may be -1.";
  let constraints = ["dim is in [−rank, rank)",
                     "the product of sizes is the size of dim"];
  let strides = "the dim's stride, times what is inside";
  let gradient = "dy under self's shape.";
  let example = "%y = ft.unflatten.int(%x, 1, [3, 4]) : (tensor<2x12xf32>) -> "
                "tensor<2x3x4xf32>";
}

def Ft_PermuteOp : Ft_ViewCall<"permute"> {
  let summary = "dims in another order";
  let semantics = "dim i of y is dim dims[i] of self.";
  let constraints = ["dims names each dim once"];
  let strides = "those of self in the same order";
  let gradient = "dy permuted back.";
  let example = "%y = ft.permute(%x, [1, 0]) : (tensor<2x3xf32>) -> "
                "tensor<3x2xf32>";
}

def Ft_TransposeIntOp : Ft_ViewCall<"transpose.int"> {
  let summary = "two dims exchanged";
  let semantics = "permute that exchanges dim0 and dim1.";
  let constraints = ["both dims are in [−rank, rank)"];
  let strides = "those of self, the two exchanged";
  let gradient = "dy with the two exchanged.";
  let example = "%y = ft.transpose.int(%x, 0, 1) : (tensor<2x3xf32>) -> "
                "tensor<3x2xf32>";
}

def Ft_TOp : Ft_ViewCall<"t"> {
  let summary = "transpose of a matrix";
  let semantics = "transpose.int of dims 0 and 1; vectors stay.";
  let constraints = ["self has rank 2 or less"];
  let strides = "those of self, exchanged";
  let gradient = "dy transposed.";
  let example = "%y = ft.t(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>";
}

def Ft_ExpandOp : Ft_ViewCall<"expand"> {
  let summary = "dims of size 1 repeated without a copy";
  let semantics = "self broadcast to size; -1 keeps a dim.";
  let constraints = ["size has at least self's rank",
                     "each dim of self is 1, -1 in size or equal to it"];
  let strides = "0 where a dim was repeated or added";
  let gradient = "the sum of dy over what was repeated.";
  let example = "%y = ft.expand(%x, [4, -1]) : (tensor<1x3xf32>) -> "
                "tensor<4x3xf32>";
}

def Ft_UnsqueezeOp : Ft_ViewCall<"unsqueeze"> {
  let summary = "a dim of size 1 added";
  let semantics = "y has a dim of size 1 before dim.";
  let constraints = ["dim is in [−rank − 1, rank]"];
  let strides = "size · stride of the dim that follows, 1 at the end";
  let gradient = "dy without the dim.";
  let example = "%y = ft.unsqueeze(%x, 0) : (tensor<3xf32>) -> "
                "tensor<1x3xf32>";
}

def Ft_SqueezeDimOp : Ft_ViewCall<"squeeze.dim"> {
  let summary = "a dim of size 1 taken away";
  let semantics = "self without dim if its size is 1, else self.";
  let constraints = ["dim is in [−rank, rank)"];
  let strides = "those of the dims that stay";
  let gradient = "dy with the dim.";
  let example = "%y = ft.squeeze.dim(%x, 0) : (tensor<1x3xf32>) -> "
                "tensor<3xf32>";
}

def Ft_SqueezeDimsOp : Ft_ViewCall<"squeeze.dims"> {
  let summary = "several dims of size 1 taken away";
  let semantics = "squeeze.dim for each entry of dim.";
  let constraints = ["each dim is in [−rank, rank) and stands once"];
  let strides = "those of the dims that stay";
  let gradient = "dy with the dims.";
  let example = "%y = ft.squeeze.dims(%x, [0, 2]) : (tensor<1x3x1xf32>) -> "
                "tensor<3xf32>";
}

def Ft_SelectIntOp : Ft_ViewCall<"select.int"> {
  let summary = "one position of a dim, which goes away";
  let semantics = "y[…] = self[…, index, …]; a negative index counts from the "
                  "end.";
  let constraints = ["self has at least one dim, dim is in [−rank, rank)",
                     "index is in [−size, size)"];
  let strides = "those of the other dims; the offset moves by index · stride";
  let gradient = "zeros with dy at the position.";
  let example = "%y = ft.select.int(%x, 0, 1) : (tensor<2x3xf32>) -> "
                "tensor<3xf32>";
}

def Ft_SliceOp : Ft_ViewCall<"slice"> {
  let summary = "a range of positions of a dim";
  let semantics = "y[…, i, …] = self[…, start + i · step, …] up to end; bounds "
                  "count from the end where negative and are clamped.";
  let constraints = ["dim is in [−rank, rank)", "step is positive"];
  let strides = "the dim's stride times step; the offset moves by start · "
                "stride";
  let gradient = "zeros with dy at the positions.";
  let example = "%y = ft.slice(%x, 1, 0, 2) : (tensor<2x3xf32>) -> "
                "tensor<2x2xf32>";
}

def Ft_SplitTensorOp : Ft_ViewCall<"split.Tensor"> {
  let summary = "pieces of one size along a dim";
  let semantics = "result i is the range from i · split_size; the last may be "
                  "smaller.";
  let constraints = ["dim is in [−rank, rank)", "split_size is not negative, "
                     "and 0 only for a dim of size 0"];
  let strides = "those of self";
  let gradient = "the pieces' gradients put together.";
  let example = "%y:2 = ft.split.Tensor(%x, 2, 1) : (tensor<2x3xf32>) -> "
                "(tensor<2x2xf32>, tensor<2x1xf32>)";
}

def Ft_SplitWithSizesOp : Ft_ViewCall<"split_with_sizes"> {
  let summary = "pieces of given sizes along a dim";
  let semantics = "result i is the range of split_sizes[i] after those before.";
  let constraints = ["dim is in [−rank, rank)",
                     "split_sizes are not negative and add up to the dim"];
  let strides = "those of self";
  let gradient = "the pieces' gradients put together.";
  let example = "%y:2 = ft.split_with_sizes(%x, [1, 2], 1) : (tensor<2x3xf32>) "
                "-> (tensor<2x1xf32>, tensor<2x2xf32>)";
}

def Ft_ChunkOp : Ft_ViewCall<"chunk"> {
  let summary = "at most a number of equal pieces along a dim";
  let semantics = "split with ⌈size / chunks⌉.";
  let constraints = ["dim is in [−rank, rank)", "chunks is positive"];
  let strides = "those of self";
  let gradient = "the pieces' gradients put together.";
  let example = "%y:2 = ft.chunk(%x, 2, 1) : (tensor<2x4xf32>) -> "
                "(tensor<2x2xf32>, tensor<2x2xf32>)";
}

def Ft_UnbindIntOp : Ft_ViewCall<"unbind.int"> {
  let summary = "every position of a dim on its own";
  let semantics = "result i is select.int of position i.";
  let constraints = ["dim is in [−rank, rank)"];
  let strides = "those of the other dims";
  let gradient = "the gradients stacked.";
  let example = "%y:2 = ft.unbind.int(%x) : (tensor<2x3xf32>) -> "
                "(tensor<3xf32>, tensor<3xf32>)";
}

def Ft_AsStridedOp : Ft_ViewCall<"as_strided"> {
  let summary = "any strides over the storage of a tensor";
  let semantics = "y is the given sizes and strides over self's storage, from "
                  "storage_offset (self's own if absent).";
  let constraints = ["size and stride are equally long, sizes not negative",
                     "the last element is inside the storage"];
  let strides = "the given ones";
  let gradient = "dy added at the positions; where they overlap, summed.";
  let example = "%y = ft.as_strided(%x, [2, 2], [1, 1]) : (tensor<3xf32>) -> "
                "tensor<2x2xf32>";
}

def Ft_DiagonalOp : Ft_ViewCall<"diagonal"> {
  let summary = "a diagonal of two dims, as the last dim";
  let semantics = "y[…, i] = self[…, i, …, i + offset, …]; a negative offset "
                  "is below.";
  let constraints = ["dim1 and dim2 are different and in [−rank, rank)"];
  let strides = "the sum of both strides";
  let gradient = "zeros with dy on the diagonal.";
  let example = "%y = ft.diagonal(%x) : (tensor<2x3xf32>) -> tensor<2xf32>";
}

def Ft_AliasOp : Ft_ViewCall<"alias"> {
  let summary = "the same tensor under another name";
  let semantics = "y is self.";
  let constraints = ["none: every tensor is taken"];
  let strides = "those of self";
  let gradient = "dy.";
  let example = "%y = ft.alias(%x) : (tensor<3xf32>) -> tensor<3xf32>";
}

def Ft_DetachOp : Ft_ViewCall<"detach"> {
  let summary = "the same tensor without its history";
  let semantics = "y is self; no gradient passes.";
  let constraints = ["none: every tensor is taken"];
  let strides = "those of self";
  let gradient = kNoGradient # "that is what it is for";
  let example = "%y = ft.detach(%x) : (tensor<3xf32>) -> tensor<3xf32>";
}
