// RUN: %ft-opt -ft-functionalize %s | FileCheck %s
// A write through a view is put back into its base; views that are read after
// it are made anew.

// CHECK-LABEL: func.func @forward
// CHECK: %[[B:.*]] = ft.aten "exp.default"
// CHECK: %[[T:.*]] = ft.aten "transpose.int"(%[[B]], 0, 1)
// CHECK: %[[S:.*]] = ft.aten "select.int"(%[[T]], 0, 1)
// CHECK: %[[W:.*]] = {{.*}}zero{{.*}}(%[[S]])
// CHECK: %[[T1:.*]] = ft.select_scatter(%[[T]], %[[W]], 0, 1)
// CHECK: %[[B1:.*]] = ft.permute(%[[T1]], [1, 0])
// CHECK: %[[T2:.*]] = ft.aten "transpose.int"(%[[B2:.*]], 0, 1)
// CHECK: return %[[B2]], %[[T2]]
module {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2x3xf32, #ft.meta<cpu>> {ft.role = "output"},
          tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>> {ft.role = "output"}) {
    %b = ft.aten "exp.default"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<2x3xf32, #ft.meta<cpu>>
    %t = ft.aten "transpose.int"(%b, 0, 1) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>
    %s = ft.aten "select.int"(%t, 0, 1) : (tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>) -> tensor<2xf32, #ft.meta<strides = [3], offset = 1, cpu>>
    %z = ft.aten "zero_.default"(%s) : (tensor<2xf32, #ft.meta<strides = [3], offset = 1, cpu>>) -> tensor<2xf32, #ft.meta<strides = [3], offset = 1, cpu>>
    return %b, %t : tensor<2x3xf32, #ft.meta<cpu>>, tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>
  }
}
