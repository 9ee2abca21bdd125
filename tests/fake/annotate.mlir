// RUN: %ft-opt -ft-fake-propagate %s | FileCheck %s
// Arguments take the layout that the archive declares; every result gets its
// own, transposed views and channels last included. Results that do not exist
// have type `none`.

// CHECK-LABEL: func.func @forward(
// CHECK-SAME: tensor<2x3xf32, #ft.meta<cpu>>
// CHECK-SAME: -> (tensor<3x4xf32, #ft.meta<cpu>>,
// CHECK: ft.aten "permute.default"{{.*}} -> tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>
// CHECK: ft.aten "mm.default"{{.*}} -> tensor<3x4xf32, #ft.meta<cpu>>
// CHECK: "convolution_backward.default"{{.*}} -> (none, tensor<4x2x1x1xf32, #ft.meta<cpu>>, none)
module {
  func.func @forward(
      %x: tensor<*x!ft.unknown> {ft.declared = tensor<2x3xf32, #ft.meta<cpu>>},
      %w: tensor<2x4xf32, #ft.meta<cpu>>,
      %g: tensor<1x4x5x5xf32, #ft.meta<cpu>>,
      %i: tensor<1x2x5x5xf32, #ft.meta<cpu>>,
      %k: tensor<4x2x1x1xf32, #ft.meta<cpu>>)
      -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) {
    %t = ft.aten "permute.default"(%x, [1, 0]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %y = ft.aten "mm.default"(%t, %w) : (tensor<*x!ft.unknown>, tensor<2x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %b:3 = ft.aten "convolution_backward.default"(%g, %i, %k, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1, [false, true, false])
      : (tensor<1x4x5x5xf32, #ft.meta<cpu>>, tensor<1x2x5x5xf32, #ft.meta<cpu>>, tensor<4x2x1x1xf32, #ft.meta<cpu>>)
      -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    return %y, %b#1 : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
