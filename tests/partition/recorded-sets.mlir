// What is kept of graphs for which it is recorded what PyTorch keeps (min-cut, no budget): never more. Inputs and views of
// them count nothing on either side.
//
// RUN: split-file %s %t
//
// Recorded: relu, 8192 bytes.
// RUN: %foretrace inspect %t/products.mlir --stage partition --training | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: values, 8192 bytes of activations
//
// Recorded: the first product, 8192 bytes.
// RUN: %foretrace inspect %t/gelu.mlir --stage partition --training | FileCheck %s --check-prefix=GELU
// GELU: values, 8192 bytes of activations
//
// Recorded: the result, 2048 bytes.
// RUN: %foretrace inspect %t/softmax.mlir --stage partition --training | FileCheck %s --check-prefix=SOFTMAX
// SOFTMAX: values, 0 bytes of activations
//
// Recorded: mean and deviation, 512 bytes.
// RUN: %foretrace inspect %t/layer_norm.mlir --stage partition --training | FileCheck %s --check-prefix=LAYERNORM
// LAYERNORM: values, 0 bytes of activations
//
// Recorded: exp and its sum, 2304 bytes.
// RUN: %foretrace inspect %t/exp_sum.mlir --stage partition --training | FileCheck %s --check-prefix=EXPSUM
// EXPSUM: values, 0 bytes of activations
//
// Recorded: nothing: the sum of 3 is taken again.
// RUN: %foretrace inspect %t/sum3.mlir --stage partition --training | FileCheck %s --check-prefix=SUM3
// SUM3: values, 0 bytes of activations
//
// Recorded: the sum of 5, 256 bytes.
// RUN: %foretrace inspect %t/sum5.mlir --stage partition --training | FileCheck %s --check-prefix=SUM5
// SUM5: values, 0 bytes of activations
//
// Recorded: a cosine in bfloat16, 1024 bytes.
// RUN: %foretrace inspect %t/narrow.mlir --stage partition --training | FileCheck %s --check-prefix=NARROW
// NARROW: values, 0 bytes of activations
//
// Recorded: exp, 2048 bytes.
// RUN: %foretrace inspect %t/exp_times.mlir --stage partition --training | FileCheck %s --check-prefix=EXPTIMES
// EXPTIMES: values, 0 bytes of activations
//
// Recorded: nothing: the mask is made again.
// RUN: %foretrace inspect %t/masked.mlir --stage partition --training | FileCheck %s --check-prefix=MASKED
// MASKED: values, 0 bytes of activations
//
// Recorded: three results, 6144 bytes.
// RUN: %foretrace inspect %t/relus.mlir --stage partition --training | FileCheck %s --check-prefix=RELUS
// RELUS: values, 0 bytes of activations
//
// Recorded: the concatenation, 4096 bytes.
// RUN: %foretrace inspect %t/cat.mlir --stage partition --training | FileCheck %s --check-prefix=CAT
// CAT: values, 0 bytes of activations
//
// Recorded: what is looked up, 512 bytes.
// RUN: %foretrace inspect %t/embedding.mlir --stage partition --training | FileCheck %s --check-prefix=EMBEDDING
// EMBEDDING: values, 0 bytes of activations
//
// Recorded: relu, 1152 bytes.
// RUN: %foretrace inspect %t/convolutions.mlir --stage partition --training | FileCheck %s --check-prefix=CONVOLUTIONS
// CONVOLUTIONS: values, 1152 bytes of activations
//
// Recorded: a sine and the indices, 2304 bytes.
// RUN: %foretrace inspect %t/pool.mlir --stage partition --training | FileCheck %s --check-prefix=POOL
// POOL: values, 0 bytes of activations
//
// Recorded: a sine and the product, 4096 bytes.
// RUN: %foretrace inspect %t/branches.mlir --stage partition --training | FileCheck %s --check-prefix=BRANCHES
// BRANCHES: values, 2048 bytes of activations
//
// Recorded: the softmax, 2048 bytes.
// RUN: %foretrace inspect %t/attention.mlir --stage partition --training | FileCheck %s --check-prefix=ATTENTION
// ATTENTION: values, 2048 bytes of activations
//
// Recorded: nothing: zeros are made again.
// RUN: %foretrace inspect %t/zeros.mlir --stage partition --training | FileCheck %s --check-prefix=ZEROS
// ZEROS: values, 0 bytes of activations

//--- products.mlir
!a = tensor<32x16xf32, #ft.meta<cpu>>
!b = tensor<16x64xf32, #ft.meta<cpu>>
!c = tensor<64x8xf32, #ft.meta<cpu>>
!d = tensor<32x8xf32, #ft.meta<cpu>>
!e = tensor<32x64xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad}, %w1: !b {ft.kind = "input", ft.name = "w1", ft.target = "w1", ft.requires_grad}, %w2: !c {ft.kind = "input", ft.name = "w2", ft.target = "w2", ft.requires_grad})
      -> (!d {ft.name = "r", ft.role = "output"}) {
    %0 = ft.mm(%x, %w1) : (!a, !b) -> !e
    %1 = ft.relu(%0) : (!e) -> !e
    %r = ft.mm(%1, %w2) : (!e, !c) -> !d
    return %r : !d
  }
}

//--- gelu.mlir
!a = tensor<32x16xf32, #ft.meta<cpu>>
!b = tensor<16x64xf32, #ft.meta<cpu>>
!c = tensor<64x8xf32, #ft.meta<cpu>>
!d = tensor<32x8xf32, #ft.meta<cpu>>
!e = tensor<32x64xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad}, %w1: !b {ft.kind = "input", ft.name = "w1", ft.target = "w1", ft.requires_grad}, %w2: !c {ft.kind = "input", ft.name = "w2", ft.target = "w2", ft.requires_grad})
      -> (!d {ft.name = "r", ft.role = "output"}) {
    %0 = ft.mm(%x, %w1) : (!a, !b) -> !e
    %1 = ft.gelu(%0) : (!e) -> !e
    %r = ft.mm(%1, %w2) : (!e, !c) -> !d
    return %r : !d
  }
}

//--- softmax.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.mul.Scalar(%x, 2) : (!a) -> !a
    %r = ft.softmax.int(%0, 1) : (!a) -> !a
    return %r : !a
  }
}

//--- layer_norm.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
!b = tensor<8xf32, #ft.meta<cpu>>
!c = tensor<64x1xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad}, %w: !b {ft.kind = "input", ft.name = "w", ft.target = "w", ft.requires_grad}, %b: !b {ft.kind = "input", ft.name = "b", ft.target = "b", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0:3 = ft.native_layer_norm(%x, [8], %w, %b, 1.0e-05) : (!a, !b, !b) -> (!a, !c, !c)
    %r = ft.sin(%0#0) : (!a) -> !a
    return %r : !a
  }
}

//--- exp_sum.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
!b = tensor<64x1xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.exp(%x) : (!a) -> !a
    %1 = ft.aten "sum.dim_IntList"(%0, [1], true) : (!a) -> !b
    %2 = ft.mul(%0, %1) : (!a, !b) -> !a
    %r = ft.cos(%2) : (!a) -> !a
    return %r : !a
  }
}

//--- sum3.mlir
!a = tensor<64x3xf32, #ft.meta<cpu>>
!b = tensor<64x1xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.aten "sum.dim_IntList"(%x, [1], true) : (!a) -> !b
    %1 = ft.cos(%0) : (!b) -> !b
    %r = ft.mul(%1, %x) : (!b, !a) -> !a
    return %r : !a
  }
}

//--- sum5.mlir
!a = tensor<64x5xf32, #ft.meta<cpu>>
!b = tensor<64x1xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.aten "sum.dim_IntList"(%x, [1], true) : (!a) -> !b
    %1 = ft.cos(%0) : (!b) -> !b
    %r = ft.mul(%1, %x) : (!b, !a) -> !a
    return %r : !a
  }
}

//--- narrow.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
!b = tensor<64x8xbf16, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.to.dtype(%x, bfloat16) : (!a) -> !b
    %1 = ft.sin(%0) : (!b) -> !b
    %r = ft.to.dtype(%1, float32) : (!b) -> !a
    return %r : !a
  }
}

//--- exp_times.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.exp(%x) : (!a) -> !a
    %r = ft.mul(%0, %x) : (!a, !a) -> !a
    return %r : !a
  }
}

//--- masked.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
!b = tensor<64x8xi1, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.gt.Scalar(%x, 0) : (!a) -> !b
    %1 = ft.masked_fill.Scalar(%x, %0, 0.5) : (!a, !b) -> !a
    %r = ft.cos(%1) : (!a) -> !a
    return %r : !a
  }
}

//--- relus.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.relu(%x) : (!a) -> !a
    %1 = ft.relu(%0) : (!a) -> !a
    %r = ft.relu(%1) : (!a) -> !a
    return %r : !a
  }
}

//--- cat.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
!b = tensor<128x8xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad}, %y: !a {ft.kind = "input", ft.name = "y", ft.target = "y", ft.requires_grad})
      -> (!b {ft.name = "r", ft.role = "output"}) {
    %0 = ft.sin(%x) : (!a) -> !a
    %1 = ft.cos(%y) : (!a) -> !a
    %2 = ft.cat([%0, %1]) : (!a, !a) -> !b
    %r = ft.sin(%2) : (!b) -> !b
    return %r : !b
  }
}

//--- embedding.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
!b = tensor<16xi64, #ft.meta<cpu>>
!c = tensor<16x8xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%w: !a {ft.kind = "input", ft.name = "w", ft.target = "w", ft.requires_grad}, %i: !b {ft.kind = "input", ft.name = "i", ft.target = "i"})
      -> (!c {ft.name = "r", ft.role = "output"}) {
    %0 = ft.embedding(%w, %i) : (!a, !b) -> !c
    %r = ft.sin(%0) : (!c) -> !c
    return %r : !c
  }
}

//--- convolutions.mlir
!a = tensor<2x3x8x8xf32, #ft.meta<cpu>>
!b = tensor<4x3x3x3xf32, #ft.meta<cpu>>
!c = tensor<5x4x3x3xf32, #ft.meta<cpu>>
!d = tensor<2x5x4x4xf32, #ft.meta<cpu>>
!e = tensor<2x4x6x6xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad}, %k: !b {ft.kind = "input", ft.name = "k", ft.target = "k", ft.requires_grad}, %l: !c {ft.kind = "input", ft.name = "l", ft.target = "l", ft.requires_grad})
      -> (!d {ft.name = "r", ft.role = "output"}) {
    %0 = ft.conv2d(%x, %k) : (!a, !b) -> !e
    %1 = ft.relu(%0) : (!e) -> !e
    %r = ft.conv2d(%1, %l) : (!e, !c) -> !d
    return %r : !d
  }
}

//--- pool.mlir
!a = tensor<2x3x8x8xf32, #ft.meta<cpu>>
!b = tensor<2x3x4x4xf32, #ft.meta<cpu>>
!c = tensor<2x3x4x4xi64, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad})
      -> (!b {ft.name = "r", ft.role = "output"}) {
    %0 = ft.sin(%x) : (!a) -> !a
    %1:2 = ft.max_pool2d_with_indices(%0, [2, 2], [2, 2]) : (!a) -> (!b, !c)
    %r = ft.sin(%1#0) : (!b) -> !b
    return %r : !b
  }
}

//--- branches.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
!b = tensor<8x8xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad}, %w: !b {ft.kind = "input", ft.name = "w", ft.target = "w", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %a = ft.add.Scalar(%x, 1) : (!a) -> !a
    %0 = ft.sin(%a) : (!a) -> !a
    %1 = ft.mm(%0, %w) : (!a, !b) -> !a
    %2 = ft.sin(%1) : (!a) -> !a
    %3 = ft.cos(%a) : (!a) -> !a
    %r = ft.add(%2, %3) : (!a, !a) -> !a
    return %r : !a
  }
}

//--- attention.mlir
!a = tensor<2x16x8xf32, #ft.meta<cpu>>
!b = tensor<2x8x16xf32, #ft.meta<strides = [128, 1, 8], cpu>>
!c = tensor<2x16x16xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%q: !a {ft.kind = "input", ft.name = "q", ft.target = "q", ft.requires_grad}, %k: !a {ft.kind = "input", ft.name = "k", ft.target = "k", ft.requires_grad}, %v: !a {ft.kind = "input", ft.name = "v", ft.target = "v", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.transpose.int(%k, -2, -1) : (!a) -> !b
    %1 = ft.bmm(%q, %0) : (!a, !b) -> !c
    %2 = ft.softmax.int(%1, -1) : (!c) -> !c
    %r = ft.bmm(%2, %v) : (!c, !a) -> !a
    return %r : !a
  }
}

//--- zeros.mlir
!a = tensor<64x8xf32, #ft.meta<cpu>>
!b = tensor<8x64xf32, #ft.meta<cpu>>
!c = tensor<64x8xf32, #ft.meta<strides = [1, 64], cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !a {ft.kind = "input", ft.name = "x", ft.target = "x", ft.requires_grad}, %y: !b {ft.kind = "input", ft.name = "y", ft.target = "y", ft.requires_grad})
      -> (!a {ft.name = "r", ft.role = "output"}) {
    %0 = ft.zeros_like(%y) : (!b) -> !b
    %1 = ft.t(%0) : (!b) -> !c
    %r = ft.mul(%x, %1) : (!a, !c) -> !a
    return %r : !a
  }
}
