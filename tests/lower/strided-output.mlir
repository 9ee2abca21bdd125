// RUN: %ft-opt -ft-lower %s | FileCheck %s
// The annotated strides are what the caller sees: the last kernel writes them.

// CHECK: func.func private @k0_to(%{{.*}}: memref<4x3xf32>, %{{.*}}: memref<4x3xi32, strided<[1, 4]>>)
module attributes {ft.model = "m"} {
  func.func @forward(%x: tensor<4x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<4x3xi32, #ft.meta<strides = [1, 4], cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.aten "to.dtype"(%x, int32) : (tensor<4x3xf32, #ft.meta<cpu>>) -> tensor<4x3xi32, #ft.meta<strides = [1, 4], cpu>>
    return %y : tensor<4x3xi32, #ft.meta<strides = [1, 4], cpu>>
  }
}
