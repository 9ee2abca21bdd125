// RUN: %ft-opt -ft-fake-propagate %s | FileCheck %s
// The graph stays as written. `t_` changes the layout of %x itself: the
// annotation of %x is what it was at its definition, uses after the call see it
// transposed.

// CHECK-LABEL: func.func @forward
// CHECK: ft.aten "t_.default"(%{{.*}}) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>
// CHECK: ft.aten "relu.default"(%{{.*}}) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>
module {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %t = ft.aten "t_.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %y = ft.aten "relu.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
