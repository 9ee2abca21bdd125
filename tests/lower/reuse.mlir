// RUN: %ft-opt -ft-lower %s -split-input-file | FileCheck %s
// The arena: what is live at once, and no more.

// The sum is written where %a dies: 2 buffers of 64 KiB for 3 values.
// CHECK-LABEL: module attributes {ft.model = "in place"
// CHECK-SAME: arena_bytes = 131072 : i64
// CHECK: func.func private @{{.*}}({{.*}}ft.inplace
module attributes {ft.model = "in place"} {
  func.func @forward(%x: tensor<128x128xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<128x128xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %a = ft.mm(%x, %x) : (tensor<128x128xf32, #ft.meta<cpu>>, tensor<128x128xf32, #ft.meta<cpu>>) -> tensor<128x128xf32, #ft.meta<cpu>>
    %b = ft.mm(%a, %x) : (tensor<128x128xf32, #ft.meta<cpu>>, tensor<128x128xf32, #ft.meta<cpu>>) -> tensor<128x128xf32, #ft.meta<cpu>>
    %c = ft.mm(%b, %x) : (tensor<128x128xf32, #ft.meta<cpu>>, tensor<128x128xf32, #ft.meta<cpu>>) -> tensor<128x128xf32, #ft.meta<cpu>>
    %s = ft.add(%c, %a) : (tensor<128x128xf32, #ft.meta<cpu>>, tensor<128x128xf32, #ft.meta<cpu>>) -> tensor<128x128xf32, #ft.meta<cpu>>
    %y = ft.mm(%s, %x) : (tensor<128x128xf32, #ft.meta<cpu>>, tensor<128x128xf32, #ft.meta<cpu>>) -> tensor<128x128xf32, #ft.meta<cpu>>
    return %y : tensor<128x128xf32, #ft.meta<cpu>>
  }
}

// -----

// Pointwise operations in a row are one kernel: no buffer at all.
// CHECK-LABEL: module attributes {ft.model = "fused"
// CHECK-SAME: arena_bytes = 0 : i64
module attributes {ft.model = "fused"} {
  func.func @forward(%x: tensor<64x64xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<64x64xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %a = ft.relu(%x) : (tensor<64x64xf32, #ft.meta<cpu>>) -> tensor<64x64xf32, #ft.meta<cpu>>
    %b = ft.neg(%a) : (tensor<64x64xf32, #ft.meta<cpu>>) -> tensor<64x64xf32, #ft.meta<cpu>>
    %y = ft.relu(%b) : (tensor<64x64xf32, #ft.meta<cpu>>) -> tensor<64x64xf32, #ft.meta<cpu>>
    return %y : tensor<64x64xf32, #ft.meta<cpu>>
  }
}

// -----

// Both views are windows of one buffer: 64 KiB, not three times as much.
// CHECK-LABEL: module attributes {ft.model = "views"
// CHECK-SAME: arena_bytes = 65536 : i64
module attributes {ft.model = "views"} {
  func.func @forward(%x: tensor<128x128xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<128x128xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %a = ft.mm(%x, %x) : (tensor<128x128xf32, #ft.meta<cpu>>, tensor<128x128xf32, #ft.meta<cpu>>) -> tensor<128x128xf32, #ft.meta<cpu>>
    %t = ft.t(%a) : (tensor<128x128xf32, #ft.meta<cpu>>) -> tensor<128x128xf32, #ft.meta<strides = [1, 128], cpu>>
    %y = ft.mm(%a, %t) : (tensor<128x128xf32, #ft.meta<cpu>>, tensor<128x128xf32, #ft.meta<strides = [1, 128], cpu>>) -> tensor<128x128xf32, #ft.meta<cpu>>
    return %y : tensor<128x128xf32, #ft.meta<cpu>>
  }
}
