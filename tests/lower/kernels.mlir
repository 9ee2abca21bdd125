// RUN: %ft-opt -ft-lower %s | FileCheck %s
// Two equal layers share one kernel; the conversion between them is folded into
// it; both results go straight to the caller, so the arena is empty.

// CHECK: arena_bytes = 0
// CHECK-COUNT-1: func.func private @k{{[0-9]+}}_to
// CHECK-LABEL: func.func @ft_gen_forward
// CHECK: call @[[K:k[0-9]+_to]]
// CHECK: call @[[K]]
module attributes {ft.model = "m"} {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2x3xf32, #ft.meta<cpu>> {ft.name = "b", ft.role = "output"},
          tensor<2x3xf32, #ft.meta<cpu>> {ft.name = "d", ft.role = "output"}) {
    %a = ft.aten "to.dtype"(%x, float16) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<2x3xf16, #ft.meta<cpu>>
    %b = ft.aten "to.dtype"(%a, float32) : (tensor<2x3xf16, #ft.meta<cpu>>) -> tensor<2x3xf32, #ft.meta<cpu>>
    %c = ft.aten "to.dtype"(%b, float16) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<2x3xf16, #ft.meta<cpu>>
    %d = ft.aten "to.dtype"(%c, float32) : (tensor<2x3xf16, #ft.meta<cpu>>) -> tensor<2x3xf32, #ft.meta<cpu>>
    return %b, %d : tensor<2x3xf32, #ft.meta<cpu>>, tensor<2x3xf32, #ft.meta<cpu>>
  }
}
