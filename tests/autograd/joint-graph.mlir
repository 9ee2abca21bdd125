// RUN: %ft-opt -ft-autograd %s | FileCheck %s
// A tangent for the output, a gradient for each argument that requires one, in
// the order of the arguments; none for %x. The derivative of relu reads its
// result, which is there already.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[W:.*]]: tensor<3x4xf32, #ft.meta<cpu>> {{.*}}, %[[X:.*]]: tensor<2x3xf32{{.*}}, %[[T:.*]]: tensor<2x4xf32, #ft.meta<cpu>> {ft.kind = "tangent", ft.name = "tangent_y"
// CHECK-SAME: {ft.name = "gradient_w", ft.role = "gradient", ft.target = "w"}
// CHECK: %[[M:.*]] = ft.mm(%[[X]], %[[W]])
// CHECK: %[[Y:.*]] = ft.relu(%[[M]])
// CHECK: %[[G:.*]] = ft.aten "threshold_backward.default"(%[[T]], %[[Y]], 0)
// CHECK: %[[XT:.*]] = ft.transpose.int(%[[X]], -2, -1)
// CHECK: %[[GW:.*]] = ft.mm(%[[XT]], %[[G]])
// CHECK: return %[[Y]], %[[GW]]
module {
  func.func @forward(%w: tensor<3x4xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad},
                     %x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2x4xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %0 = ft.mm(%x, %w) : (tensor<2x3xf32, #ft.meta<cpu>>, tensor<3x4xf32, #ft.meta<cpu>>) -> tensor<2x4xf32, #ft.meta<cpu>>
    %1 = ft.relu(%0) : (tensor<2x4xf32, #ft.meta<cpu>>) -> tensor<2x4xf32, #ft.meta<cpu>>
    return %1 : tensor<2x4xf32, #ft.meta<cpu>>
  }
}
