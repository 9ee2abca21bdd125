// RUN: %ft-opt -ft-lower %s | FileCheck %s
// The sum of two buffers is written where the first one is read; a reversed
// buffer is not, since its elements are read after they were written.

// CHECK: func.func private @k0_add(%{{.*}}: memref<4xf32> {ft.inplace}, %{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>)
// CHECK: func.func private @k1_flip(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>)
// CHECK: func.func private @k2_copy(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>)
module {
  func.func @forward(%a: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "a", ft.weight = "a"},
                     %b: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "b", ft.weight = "b"})
      -> (tensor<4xf32, #ft.meta<cpu>> {ft.role = "buffer_mutation", ft.target = "a"},
          tensor<4xf32, #ft.meta<cpu>> {ft.role = "buffer_mutation", ft.target = "b"}) {
    %0 = ft.add(%a, %b) : (tensor<4xf32, #ft.meta<cpu>>, tensor<4xf32, #ft.meta<cpu>>) -> tensor<4xf32, #ft.meta<cpu>>
    %1 = ft.aten "flip.default"(%b, [0]) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<4xf32, #ft.meta<cpu>>
    return %0, %1 : tensor<4xf32, #ft.meta<cpu>>, tensor<4xf32, #ft.meta<cpu>>
  }
}
