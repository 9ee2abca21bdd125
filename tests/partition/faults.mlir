// Small graphs on which partitioners of this kind have gone wrong.
//
// RUN: split-file %s %t

// What only backward needs is moved to forward if that lowers the bytes: a sum is, a concatenation is not.
// RUN: %foretrace inspect %t/moved.mlir --stage partition --training | FileCheck %s --check-prefix=MOVED
// MOVED: y {{ *}}float32 [2, 64]  512 bytes
// MOVED-NEXT: 1 values, 512 bytes of activations
// RUN: %foretrace inspect %t/sum.mlir --stage partition --training | FileCheck %s --check-prefix=SUM
// SUM: sum {{ *}}float32 [2, 1]  8 bytes
// SUM-NEXT: 1 values, 8 bytes of activations
//
//--- moved.mlir
!x = tensor<2x16xf32, #ft.meta<cpu>>
!w = tensor<16x64xf32, #ft.meta<cpu>>
!y = tensor<2x64xf32, #ft.meta<cpu>>
!b = tensor<4x64xf32, #ft.meta<cpu>>
module attributes {ft.stage = "autograd"} {
  func.func @forward(%w: !w {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad}, %x: !x {ft.kind = "input", ft.name = "x", ft.target = "x"},
                     %t: !y {ft.kind = "tangent", ft.name = "t", ft.target = "t"})
      -> (!y {ft.name = "z", ft.role = "output"}, !b {ft.name = "g", ft.role = "gradient", ft.target = "w"}) {
    %0 = ft.mm(%x, %w) {ft.name = "y"} : (!x, !w) -> !y
    %z = ft.sin(%0) : (!y) -> !y
    %both = ft.cat([%0, %0]) {ft.name = "both"} : (!y, !y) -> !b
    %tt = ft.cat([%t, %t]) : (!y, !y) -> !b
    %g = ft.mul(%tt, %both) : (!b, !b) -> !b
    return %z, %g : !y, !b
  }
}

//--- sum.mlir
!x = tensor<2x16xf32, #ft.meta<cpu>>
!w = tensor<16x64xf32, #ft.meta<cpu>>
!y = tensor<2x64xf32, #ft.meta<cpu>>
!s = tensor<2x1xf32, #ft.meta<cpu>>
module attributes {ft.stage = "autograd"} {
  func.func @forward(%w: !w {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad}, %x: !x {ft.kind = "input", ft.name = "x", ft.target = "x"},
                     %t: !y {ft.kind = "tangent", ft.name = "t", ft.target = "t"})
      -> (!y {ft.name = "z", ft.role = "output"}, !y {ft.name = "g", ft.role = "gradient", ft.target = "w"}) {
    %0 = ft.mm(%x, %w) {ft.name = "y"} : (!x, !w) -> !y
    %z = ft.sin(%0) : (!y) -> !y
    %sum = ft.aten "sum.dim_IntList"(%0, [1], true) {ft.name = "sum"} : (!y) -> !s
    %g = ft.mul(%t, %sum) : (!y, !s) -> !y
    return %z, %g : !y, !y
  }
}

// Of a call with several results each is kept by itself. A split is no call to keep: its parts are views.
// RUN: %foretrace inspect %t/parts.mlir --stage partition --training --keep 'top*' --keep 'part*' | FileCheck %s --check-prefix=PARTS
// PARTS: top_0 {{ *}}float32 [4]  16 bytes: ft.keep forbids it
// PARTS-NEXT: top_1 {{ *}}int64 [4]  32 bytes: ft.keep forbids it
// PARTS-NEXT: 2 values
// RUN: %foretrace inspect %t/parts.mlir --stage partition --training --memory-budget 0 | FileCheck %s --check-prefix=NOPARTS
// NOPARTS: 0 values, 0 bytes of activations
//
//--- parts.mlir
!x = tensor<4x8xf32, #ft.meta<cpu>>
!h = tensor<4x4xf32, #ft.meta<strides = [8, 1], cpu>>
!k = tensor<4x4xf32, #ft.meta<offset = 4, strides = [8, 1], cpu>>
!d = tensor<4x4xf32, #ft.meta<cpu>>
!t = tensor<4xf32, #ft.meta<cpu>>
!i = tensor<4xi64, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%w: !x {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad})
      -> (!t {ft.name = "y", ft.role = "output"}) {
    %0:2 = ft.aten "split.Tensor"(%w, 4, 1) {ft.name = ["part_0", "part_1"]} : (!x) -> (!h, !k)
    %1 = ft.mul(%0#0, %0#1) : (!h, !k) -> !d
    %2:2 = ft.aten "max.dim"(%1, 1, false) {ft.name = ["top_0", "top_1"]} : (!d) -> (!t, !i)
    %3 = ft.mul(%2#0, %2#0) : (!t, !t) -> !t
    return %3 : !t
  }
}

// Permuted and cast inputs are made again; only what products give is kept.
// RUN: %foretrace inspect %t/permuted.mlir --stage partition --training | FileCheck %s --check-prefix=PERMUTED
// PERMUTED: 0 values, 0 bytes of activations
//
//--- permuted.mlir
!x = tensor<4x8xf32, #ft.meta<cpu>>
!xh = tensor<4x8xbf16, #ft.meta<cpu>>
!xt = tensor<8x4xbf16, #ft.meta<strides = [1, 8], cpu>>
!w = tensor<4x2xf32, #ft.meta<cpu>>
!wh = tensor<4x2xbf16, #ft.meta<cpu>>
!y = tensor<8x2xbf16, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%w: !w {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad}, %x: !x {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (!y {ft.name = "y", ft.role = "output"}) {
    %0 = ft.to.dtype(%x, bfloat16) : (!x) -> !xh
    %1 = ft.permute(%0, [1, 0]) : (!xh) -> !xt
    %2 = ft.to.dtype(%w, bfloat16) : (!w) -> !wh
    %3 = ft.mm(%1, %2) : (!xt, !wh) -> !y
    return %3 : !y
  }
}

// A storage counts once, whichever views of it backward reads.
// RUN: %foretrace inspect %t/views.mlir --stage partition --training | FileCheck %s --check-prefix=VIEWS
// VIEWS: product {{ *}}float32 [4, 4]  64 bytes
// VIEWS-NEXT: 1 values, 64 bytes of activations
//
//--- views.mlir
!t = tensor<4x4xf32, #ft.meta<cpu>>
!u = tensor<4x4xf32, #ft.meta<strides = [1, 4], cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%w: !t {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad}, %x: !t {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (!t {ft.name = "y", ft.role = "output"}) {
    %0 = ft.mm(%x, %w) {ft.name = "product"} : (!t, !t) -> !t
    %1 = ft.t(%0) {ft.name = "turned"} : (!t) -> !u
    %2 = ft.mm(%0, %1) : (!t, !u) -> !t
    return %2 : !t
  }
}

// Casts to float32 inside of a norm: the bfloat16 values are kept, not the wide ones.
// RUN: %foretrace inspect %t/casts.mlir --stage partition --training | FileCheck %s --check-prefix=CASTS
// CASTS: product {{ *}}bfloat16 [4, 64]  512 bytes
// CASTS-NOT: float32 [4, 64]
// CASTS: bytes of activations
//
//--- casts.mlir
!x = tensor<4x64xbf16, #ft.meta<cpu>>
!w = tensor<64x64xbf16, #ft.meta<cpu>>
!f = tensor<4x64xf32, #ft.meta<cpu>>
!m = tensor<4x1xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%w: !w {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad}, %x: !x {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (!x {ft.name = "y", ft.role = "output"}) {
    %0 = ft.mm(%x, %w) {ft.name = "product"} : (!x, !w) -> !x
    %1 = ft.to.dtype(%0, float32) {ft.name = "wide"} : (!x) -> !f
    %2 = ft.mul(%1, %1) : (!f, !f) -> !f
    %3 = ft.aten "mean.dim"(%2, [1], true) : (!f) -> !m
    %4 = ft.rsqrt(%3) {ft.name = "scale"} : (!m) -> !m
    %5 = ft.mul(%1, %4) : (!f, !m) -> !f
    %6 = ft.to.dtype(%5, bfloat16) : (!f) -> !x
    return %6 : !x
  }
}

// A call with effects (a custom operator that says so, such as one that talks to other machines) runs once at every budget.
// RUN: %foretrace inspect %t/effects.mlir --plugin %plugins/test_operators.so --stage partition --training --memory-budget 1 --format mlir | FileCheck %s --check-prefix=EFFECTS
// RUN: %foretrace inspect %t/effects.mlir --plugin %plugins/test_operators.so --stage partition --training | FileCheck %s --check-prefix=ONCE
// RUN: %exits 4 %foretrace inspect %t/effects.mlir --plugin %plugins/test_operators.so --stage partition --training --memory-budget 0 2>&1 | FileCheck %s --check-prefix=LEAST
// EFFECTS: module @forward
// EFFECTS: test::scale
// EFFECTS: module @backward
// EFFECTS-NOT: test::scale
// ONCE: {{.*}}float32 [4, 4]  64 bytes: it has effects
// LEAST: at least 64 bytes have to be kept for the backward pass
//
//--- effects.mlir
!t = tensor<4x4xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%w: !t {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad}, %x: !t {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (!t {ft.name = "y", ft.role = "output"}) {
    %0 = ft.custom "test::scale.effects"(%x, 2.0) {ft.name = "scaled"} : (!t) -> !t
    %1 = ft.mul(%0, %w) : (!t, !t) -> !t
    return %1 : !t
  }
}

// What is done again stands in front of what reads it first, not at the beginning: it is live no longer than it has to be.
// RUN: %foretrace inspect %t/order.mlir --stage partition --training --format mlir | FileCheck %s --check-prefix=ORDER
// ORDER: module @backward
// ORDER: ft.sin({{.*}}) {ft.again
// ORDER-NEXT: ft.cos
// ORDER-NEXT: ft.mul
// ORDER-NEXT: ft.sin({{.*}}) {ft.again
// ORDER-NEXT: ft.cos
// ORDER-NEXT: ft.mul
//
//--- order.mlir
!t = tensor<4x4xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%v: !t {ft.kind = "parameter", ft.name = "v", ft.target = "v", ft.requires_grad}, %w: !t {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad})
      -> (!t {ft.name = "y", ft.role = "output"}, !t {ft.name = "z", ft.role = "output"}) {
    %0 = ft.sin(%v) {ft.name = "a"} : (!t) -> !t
    %1 = ft.sin(%w) {ft.name = "b"} : (!t) -> !t
    %2 = ft.sin(%0) : (!t) -> !t
    %3 = ft.sin(%1) : (!t) -> !t
    return %2, %3 : !t, !t
  }
}
