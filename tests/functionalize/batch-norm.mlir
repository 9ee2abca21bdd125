// RUN: %ft-opt -ft-functionalize %s | FileCheck %s
// batch_norm updates its running statistics while it trains, though its schema
// does not say so.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: {ft.role = "buffer_mutation", ft.target = "mean"}
// CHECK-SAME: {ft.role = "buffer_mutation", ft.target = "var"}
// CHECK: %[[Y:.*]]:5 = ft.aten "_native_batch_norm_legit_functional.default"
// CHECK: return %[[Y]]#3, %[[Y]]#4, %[[Y]]#0
module {
  func.func @forward(%x: tensor<2x3x4x4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"},
                     %m: tensor<3xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "mean"},
                     %v: tensor<3xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "var"})
      -> (tensor<2x3x4x4xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %y = ft.aten "batch_norm.default"(%x, none, none, %m, %v, true, 0.1, 1.0e-05, false)
      : (tensor<2x3x4x4xf32, #ft.meta<cpu>>, tensor<3xf32, #ft.meta<cpu>>, tensor<3xf32, #ft.meta<cpu>>)
      -> tensor<2x3x4x4xf32, #ft.meta<cpu>>
    return %y : tensor<2x3x4x4xf32, #ft.meta<cpu>>
  }
}
