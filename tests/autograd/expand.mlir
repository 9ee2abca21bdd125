// RUN: %ft-opt -ft-autograd %s | FileCheck %s
// The backward of layer_norm reads the statistics of the native form, which
// takes its place.

// CHECK-LABEL: func.func @forward
// CHECK: %[[Y:.*]]:3 = ft.native_layer_norm(%[[X:.*]], [4], none, none, 1.0e-05)
// CHECK: %[[G:.*]]:3 = ft.aten "native_layer_norm_backward.default"(%[[T:.*]], %[[X]], [4], %[[Y]]#1, %[[Y]]#2, none, none, [true, false, false])
// CHECK: return %[[Y]]#0, %[[G]]#0
module {
  func.func @forward(%x: tensor<2x4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x", ft.requires_grad})
      -> (tensor<2x4xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %0 = ft.layer_norm(%x, [4]) : (tensor<2x4xf32, #ft.meta<cpu>>) -> tensor<2x4xf32, #ft.meta<cpu>>
    return %0 : tensor<2x4xf32, #ft.meta<cpu>>
  }
}
