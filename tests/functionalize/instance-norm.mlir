// RUN: %ft-opt -ft-fake-propagate -ft-functionalize %s | FileCheck %s
// instance_norm updates its running statistics while it trains, as batch_norm
// does: by those of each image, of which no gradient flows back.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: {ft.role = "buffer_mutation", ft.target = "mean"}
// CHECK-SAME: {ft.role = "buffer_mutation", ft.target = "var"}
// CHECK: %[[Y:.*]] = ft.aten "instance_norm.default"(%arg0, none, none, none, none, true, 0.25
// CHECK: %[[X:.*]] = ft.detach(%arg0)
// CHECK: %[[M:.*]] = ft.{{.*}}mean.dim{{.*}}(%[[X]], [2, 3]
// CHECK: %[[B:.*]] = ft.{{.*}}mean.dim{{.*}}(%[[M]], [0]
// CHECK: %[[N:.*]] = ft.mul.Scalar(%[[B]], 0.25)
// CHECK: %[[O:.*]] = ft.mul.Scalar(%arg1, 0.75)
// CHECK: %[[MEAN:.*]] = ft.add(%[[O]], %[[N]])
// CHECK: ft.{{.*}}var{{.*}}(%[[X]], [2, 3]
// CHECK: return %[[MEAN]], %{{.*}}, %[[Y]]
module {
  func.func @forward(%x: tensor<2x3x4x4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"},
                     %m: tensor<3xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "mean"},
                     %v: tensor<3xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "var"})
      -> (tensor<*x!ft.unknown> {ft.role = "output"}) {
    %y = ft.aten "instance_norm.default"(%x, none, none, %m, %v, true, 0.25, 1.0e-05, false)
      : (tensor<2x3x4x4xf32, #ft.meta<cpu>>, tensor<3xf32, #ft.meta<cpu>>, tensor<3xf32, #ft.meta<cpu>>)
      -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
