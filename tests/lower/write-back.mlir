// RUN: %ft-opt -ft-lower %s | FileCheck %s
// A buffer that the model updates has a start value in the weights and a place
// in the state; the new value is written there by the kernel that makes it, or
// else copied there after everything else.

// CHECK-DAG: state_bytes = 64
// CHECK-DAG: name = "n", parameter = false, state_offset = 0
// CHECK-LABEL: func.func @ft_gen_forward
// CHECK: call @k0_to
// CHECK: call @k1_to
// CHECK-NEXT: arith.constant 0 : i32
module attributes {ft.model = "m"} {
  func.func @forward(%n: tensor<3xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "n", ft.weight = "data/weights/weight_0"})
      -> (tensor<3xf32, #ft.meta<cpu>> {ft.role = "buffer_mutation", ft.target = "n"},
          tensor<3xf16, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.aten "to.dtype"(%n, float16) : (tensor<3xf32, #ft.meta<cpu>>) -> tensor<3xf16, #ft.meta<cpu>>
    %m = ft.aten "to.dtype"(%y, float32) : (tensor<3xf16, #ft.meta<cpu>>) -> tensor<3xf32, #ft.meta<cpu>>
    return %m, %y : tensor<3xf32, #ft.meta<cpu>>, tensor<3xf16, #ft.meta<cpu>>
  }
}
