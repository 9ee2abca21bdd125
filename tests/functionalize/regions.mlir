// Writes inside a region are undone there; nothing of them is seen outside.
//
// RUN: %ft-opt %s --ft-fake-propagate --ft-functionalize | FileCheck %s

// CHECK-LABEL: func.func @forward(
// CHECK: %[[NEW:.*]] = ft.add(%arg1, 1)
// CHECK: %[[Y:.*]] = ft.cond(%arg0, %[[NEW]])
// CHECK: then (%[[A:.*]]: tensor<2xf32, #ft.meta<cpu>>)
// CHECK: %[[C:.*]] = ft.clone(%[[A]])
// CHECK: %[[S:.*]] = ft.add(%[[C]], %[[A]])
// CHECK: ft.yield %[[S]]
// CHECK: else (%[[A:.*]]: tensor<2xf32, #ft.meta<cpu>>)
// CHECK: %[[C:.*]] = ft.clone(%[[A]])
// CHECK-NOT: ft.mul_
// CHECK: %[[P:.*]] = ft.mul(%{{.*}}, 2)
// CHECK: %[[R:.*]] = ft.select_scatter(%[[C]], %[[P]], 0, 1)
// CHECK: ft.yield %[[R]]
// CHECK: return %[[NEW]], %[[Y]]
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "x"}) -> tensor<2xf32, #ft.meta<cpu>> {
  %n = ft.aten "add_.Tensor"(%x, 1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
  then (%a: tensor<2xf32, #ft.meta<cpu>>) {
    %c = ft.clone(%a) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %s = ft.aten "add_.Tensor"(%c, %a) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    ft.yield %s : tensor<2xf32, #ft.meta<cpu>>
  } else (%a: tensor<2xf32, #ft.meta<cpu>>) {
    %c = ft.clone(%a) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %v = ft.select.int(%c, 0, 1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<f32, #ft.meta<offset = 1, cpu>>
    %m = ft.aten "mul_.Tensor"(%v, 2) : (tensor<f32, #ft.meta<offset = 1, cpu>>) -> tensor<f32, #ft.meta<offset = 1, cpu>>
    ft.yield %c : tensor<2xf32, #ft.meta<cpu>>
  }
  return %y : tensor<2xf32, #ft.meta<cpu>>
}
