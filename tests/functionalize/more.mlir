// RUN: %ft-opt -ft-functionalize %s | FileCheck %s
// Pieces of a split, `out=` arguments, lists, and in-place changes of metadata.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: {ft.role = "input_mutation", ft.target = "x"}
// CHECK-SAME: {ft.role = "parameter_mutation", ft.target = "w"}
// CHECK: %[[P:.*]]:3 = ft.aten "split.Tensor"
// CHECK: %[[M:.*]] = ft.mul(%[[P]]#1, 2.0
// CHECK: %[[X:.*]] = ft.slice_scatter(%{{.*}}, %[[M]], 1, 2, 4)
// CHECK: %[[O:.*]] = ft.mm(
// CHECK: %[[L:.*]]:2 = ft.aten "_foreach_add.Scalar"([%[[X]], %[[O]]], 1)
// CHECK: %[[U:.*]] = ft.unsqueeze(%[[L]]#1, 0)
// CHECK: return %[[L]]#0, %[[L]]#1, %[[U]]
module {
  func.func @forward(%x: tensor<4x6xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"},
                     %w: tensor<4x4xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w"},
                     %a: tensor<4x4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "a"})
      -> (tensor<1x4x4xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %p:3 = ft.aten "split.Tensor"(%x, 2, 1) : (tensor<4x6xf32, #ft.meta<cpu>>)
      -> (tensor<4x2xf32, #ft.meta<strides = [6, 1], cpu>>, tensor<4x2xf32, #ft.meta<strides = [6, 1], offset = 2, cpu>>,
          tensor<4x2xf32, #ft.meta<strides = [6, 1], offset = 4, cpu>>)
    %m = ft.aten "mul_.Tensor"(%p#1, 2.0) : (tensor<4x2xf32, #ft.meta<strides = [6, 1], offset = 2, cpu>>)
      -> tensor<4x2xf32, #ft.meta<strides = [6, 1], offset = 2, cpu>>
    %o = ft.aten "mm.out"(%a, %a, %w) : (tensor<4x4xf32, #ft.meta<cpu>>, tensor<4x4xf32, #ft.meta<cpu>>, tensor<4x4xf32, #ft.meta<cpu>>)
      -> tensor<4x4xf32, #ft.meta<cpu>>
    ft.aten "_foreach_add_.Scalar"([%x, %w], 1) : (tensor<4x6xf32, #ft.meta<cpu>>, tensor<4x4xf32, #ft.meta<cpu>>) -> ()
    %u = ft.aten "unsqueeze_.default"(%w, 0) : (tensor<4x4xf32, #ft.meta<cpu>>) -> tensor<1x4x4xf32, #ft.meta<cpu>>
    return %u : tensor<1x4x4xf32, #ft.meta<cpu>>
  }
}
