// RUN: %ft-opt -ft-fake-propagate -ft-functionalize %s | FileCheck %s
// Writes to tensors whose metadata has changed in place: they go to the value
// as it is by now, and from there to the storage. The caller's tensor keeps its
// layout.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<2x3xf32, #ft.meta<cpu>> {ft.role = "input_mutation", ft.target = "x"}, tensor<3x2xf32, {{.*}}strides = [1, 3]{{.*}} {ft.role = "output"}, tensor<3x2xf32, {{.*}} {ft.role = "output"})
// CHECK: %[[R:.*]] = ft.aten "relu.default"(%[[X:.*]])
// CHECK: %[[T:.*]] = ft.t(%[[R]])
// CHECK: %[[A:.*]] = ft.add(%[[T]], 1)
// CHECK: %[[U:.*]] = ft.t(%arg0)
// CHECK: %[[M:.*]] = ft.mul(%[[U]], %[[A]])
// CHECK: %[[B:.*]] = ft.permute(%[[M]], [1, 0])
// CHECK: %[[C:.*]] = ft.aten "relu.default"(%[[M]])
// CHECK: return %[[B]], %[[A]], %[[C]]
module {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.role = "output"}, tensor<*x!ft.unknown> {ft.role = "output"}) {
    %r = ft.aten "relu.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %t = ft.aten "t_.default"(%r) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %a = ft.aten "add_.Tensor"(%r, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %u = ft.aten "t_.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %m = ft.aten "mul_.Tensor"(%x, %r) : (tensor<2x3xf32, #ft.meta<cpu>>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %c = ft.aten "relu.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %r, %c : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
