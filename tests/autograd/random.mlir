// RUN: %ft-opt -ft-autograd -split-input-file %s | FileCheck %s
// Seed and offset of each draw are a value of the program, from which backward
// can draw the same numbers again; all but the key is pure.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x8xf32, #ft.meta<cpu>> {{.*}}, %[[T:[a-z0-9]+]]: tensor<4x8xf32{{.*}}"tangent"
// CHECK: %[[KEY:.*]] = ft.aten "_philox_key.default"() : () -> tensor<2xi64
// CHECK: %[[U:.*]] = ft.aten "_philox_uniform.default"(%[[KEY]], [4, 8], dtype = float32)
// CHECK: %[[MASK:.*]] = ft.lt.Scalar(%[[U]], 0.75
// CHECK: %[[KEPT:.*]] = ft.mul(%[[W]], %[[MASK]])
// CHECK: %[[Y:.*]] = ft.mul.Scalar(%[[KEPT]], 1.33
// CHECK: %[[KEY2:.*]] = ft.aten "_philox_key.default"()
// CHECK: %[[N:.*]] = ft.aten "_philox_normal.default"(%[[KEY2]], [4, 8], dtype = float32)
// CHECK: %[[Z:.*]] = ft.mul(%[[Y]], %[[N]])
// CHECK: %[[D:.*]] = ft.mul(%[[T]], %[[N]])
// CHECK: ft.mul.Scalar(%[[D]], 1.33
// CHECK: %[[G:.*]] = ft.mul(%{{.*}}, %[[MASK]])
// CHECK: return %[[Z]], %[[G]]
module {
  func.func @forward(%w: tensor<4x8xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad})
      -> (tensor<4x8xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %0 = ft.dropout(%w, 0.25, true) : (tensor<4x8xf32, #ft.meta<cpu>>) -> tensor<4x8xf32, #ft.meta<cpu>>
    %1 = ft.aten "randn_like.default"(%w) : (tensor<4x8xf32, #ft.meta<cpu>>) -> tensor<4x8xf32, #ft.meta<cpu>>
    %2 = ft.mul(%0, %1) : (tensor<4x8xf32, #ft.meta<cpu>>, tensor<4x8xf32, #ft.meta<cpu>>) -> tensor<4x8xf32, #ft.meta<cpu>>
    return %2 : tensor<4x8xf32, #ft.meta<cpu>>
  }
}

// -----

// On another device the key goes there, and is drawn from there.
//
// CHECK-LABEL: func.func @forward
// CHECK: %[[KEY:.*]] = ft.aten "_philox_key.default"() : () -> tensor<2xi64, #ft.meta<cpu>>
// CHECK: %[[THERE:.*]] = ft.{{.*}}_to_copy{{.*}}(%[[KEY]], {{.*}}-> tensor<2xi64, #ft.meta<cuda:0>>
// CHECK: ft.aten "_philox_uniform.default"(%[[THERE]], [8], dtype = float32) : {{.*}} -> tensor<8xf32, #ft.meta<cuda:0>>
module {
  func.func @forward(%w: tensor<8xf32, #ft.meta<cuda:0>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad})
      -> (tensor<8xf32, #ft.meta<cuda:0>> {ft.name = "y", ft.role = "output"}) {
    %0 = ft.dropout(%w, 0.25, true) : (tensor<8xf32, #ft.meta<cuda:0>>) -> tensor<8xf32, #ft.meta<cuda:0>>
    return %0 : tensor<8xf32, #ft.meta<cuda:0>>
  }
}
