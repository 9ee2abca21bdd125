// RUN: %ft-opt -ft-functionalize %s | FileCheck %s
// normal_ has its functional form under a name of its own.

// CHECK-LABEL: func.func @forward
// CHECK: %[[R:.*]] = ft.aten "normal_functional.default"(%{{.*}}, 1.0, 2.0)
// CHECK: return %[[R]]
module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %0 = ft.aten "exp.default"(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %1 = ft.aten "normal_.default"(%0, 1.0, 2.0) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    return %1 : tensor<2xf32, #ft.meta<cpu>>
  }
}
