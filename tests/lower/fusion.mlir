// RUN: %ft-opt -ft-lower %s | FileCheck %s
// What becomes one kernel: a matmul with its bias and activation; a layer norm
// as a whole, though it reads its input three times.

// CHECK: func.func private @k0_linear_relu(
// CHECK-COUNT-3: linalg.generic
// CHECK: return
// CHECK: func.func private @k1_layer_norm(
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @ft_gen_forward
// CHECK: call @k0_linear_relu
// CHECK: call @k1_layer_norm
module attributes {ft.model = "m"} {
  func.func @forward(
      %w: tensor<64x16xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.weight = "data/weights/weight_0"},
      %b: tensor<64xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "b", ft.weight = "data/weights/weight_1"},
      %x: tensor<2x16xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2x64xf32, #ft.meta<cpu>> {ft.name = "n", ft.role = "output"}) {
    %y = ft.linear(%x, %w, %b) : (tensor<2x16xf32, #ft.meta<cpu>>, tensor<64x16xf32, #ft.meta<cpu>>, tensor<64xf32, #ft.meta<cpu>>) -> tensor<2x64xf32, #ft.meta<cpu>>
    %r = ft.relu(%y) : (tensor<2x64xf32, #ft.meta<cpu>>) -> tensor<2x64xf32, #ft.meta<cpu>>
    %n = ft.layer_norm(%r, [64]) : (tensor<2x64xf32, #ft.meta<cpu>>) -> tensor<2x64xf32, #ft.meta<cpu>>
    return %n : tensor<2x64xf32, #ft.meta<cpu>>
  }
}
