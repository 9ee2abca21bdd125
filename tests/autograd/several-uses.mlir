// RUN: %ft-opt -ft-autograd %s | FileCheck %s
// Gradients that arrive at one value are added; a broadcast operand gets the
// sum; nothing flows through detach, nor through what no output depends on.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf64{{.*}}, %[[B:.*]]: tensor<3xf64{{.*}}, %[[T:.*]]: tensor<2x3xf64{{.*}}"tangent"
// CHECK-NOT: ft.exp
// CHECK: %[[P:.*]] = ft.mul(%[[A]], %[[B]])
// CHECK: %[[D:.*]] = ft.detach(%[[P]])
// CHECK: %[[S:.*]] = ft.mul(%[[D]], %[[A]])
// CHECK: %[[Y:.*]] = ft.add(%[[P]], %[[S]])
// CHECK: %[[GA1:.*]] = ft.mul(%[[T]], %[[D]])
// CHECK: %[[GA2:.*]] = ft.mul(%[[T]], %[[B]])
// CHECK: %[[GB:.*]] = ft.mul(%[[T]], %[[A]])
// CHECK: %[[SUM:.*]] = ft.sum.dim_IntList(%[[GB]], [0])
// CHECK: %[[GA:.*]] = ft.add(%[[GA1]], %[[GA2]])
// CHECK: return %[[Y]], %[[GA]], %[[SUM]]
module {
  func.func @forward(%a: tensor<2x3xf64, #ft.meta<cpu>> {ft.kind = "input", ft.target = "a", ft.requires_grad},
                     %b: tensor<3xf64, #ft.meta<cpu>> {ft.kind = "input", ft.target = "b", ft.requires_grad})
      -> (tensor<2x3xf64, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %0 = ft.mul(%a, %b) : (tensor<2x3xf64, #ft.meta<cpu>>, tensor<3xf64, #ft.meta<cpu>>) -> tensor<2x3xf64, #ft.meta<cpu>>
    %1 = ft.detach(%0) : (tensor<2x3xf64, #ft.meta<cpu>>) -> tensor<2x3xf64, #ft.meta<cpu>>
    %2 = ft.aten "exp.default"(%0) : (tensor<2x3xf64, #ft.meta<cpu>>) -> tensor<2x3xf64, #ft.meta<cpu>>
    %3 = ft.mul(%1, %a) : (tensor<2x3xf64, #ft.meta<cpu>>, tensor<2x3xf64, #ft.meta<cpu>>) -> tensor<2x3xf64, #ft.meta<cpu>>
    %4 = ft.add(%0, %3) : (tensor<2x3xf64, #ft.meta<cpu>>, tensor<2x3xf64, #ft.meta<cpu>>) -> tensor<2x3xf64, #ft.meta<cpu>>
    return %4 : tensor<2x3xf64, #ft.meta<cpu>>
  }
}
