// RUN: %ft-opt -ft-autograd %s | FileCheck %s
// The same call twice, once where gradients are switched off: the other one
// still has a gradient. Afterwards both are one value.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[X:.*]]: tensor<2xf32{{.*}}, %[[T:.*]]: tensor<2xf32{{.*}}"tangent"
// CHECK: %[[S:.*]] = ft.sin(%[[X]])
// CHECK-NOT: ft.sin
// CHECK: %[[Y:.*]] = ft.mul(%[[S]], %[[S]])
// CHECK: %[[G:.*]] = ft.mul(%[[T]], %[[S]])
// CHECK: %[[C:.*]] = ft.cos(%[[X]])
// CHECK: %[[R:.*]] = ft.mul(%[[G]], %[[C]])
// CHECK: return %[[Y]], %[[R]]
!t = tensor<2xf32, #ft.meta<cpu>>
module {
  func.func @forward(%x: !t {ft.kind = "input", ft.target = "x", ft.requires_grad})
      -> (!t {ft.name = "y", ft.role = "output"}) {
    %0 = ft.sin(%x) {ft.no_grad} : (!t) -> !t
    %1 = ft.sin(%x) : (!t) -> !t
    %2 = ft.mul(%0, %1) : (!t, !t) -> !t
    return %2 : !t
  }
}
