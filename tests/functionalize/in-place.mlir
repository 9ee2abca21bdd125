// RUN: %ft-opt -ft-functionalize %s | FileCheck %s
// In-place ops become pure; what they wrote to a buffer is a result.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<i64, #ft.meta<cpu>> {ft.role = "buffer_mutation", ft.target = "steps"}, tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"})
// CHECK: %[[N:.*]] = ft.add(%{{.*}}, 1)
// CHECK: %[[A:.*]] = ft.aten "exp.default"
// CHECK: %[[R:.*]] = ft.relu(%[[A]])
// CHECK: return %[[N]], %[[R]]
module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"},
                     %n: tensor<i64, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "steps"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %0 = ft.aten "add_.Tensor"(%n, 1) : (tensor<i64, #ft.meta<cpu>>) -> tensor<i64, #ft.meta<cpu>>
    %1 = ft.aten "exp.default"(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %2 = ft.aten "relu_.default"(%1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    return %1 : tensor<2xf32, #ft.meta<cpu>>
  }
}
