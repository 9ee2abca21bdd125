// RUN: %ft-opt -ft-functionalize -split-input-file %s | FileCheck %s
// What is written while gradients are switched off, or through detach(),
// changes the elements of a tensor and not what it is a function of.

// CHECK-LABEL: func.func @forward
// CHECK: %[[Y:.*]] = ft.mul(%arg0, %arg1)
// CHECK: %[[V:.*]] = ft.mul(%[[Y]], 3) {ft.no_grad}
// CHECK: %[[K:.*]] = ft.aten "_keep_history.default"(%[[Y]], %{{.*}})
// CHECK: ft.exp(%[[K]])
module {
  func.func @forward(%w: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.requires_grad, ft.target = "w"},
                     %x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %y = ft.mul(%w, %x) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %m = ft.aten "mul_.Tensor"(%y, 3) {ft.no_grad} : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %e = ft.exp(%y) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    return %e : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

// CHECK-LABEL: func.func @forward
// CHECK: %[[Y:.*]] = ft.mul(%arg0, %arg1)
// CHECK: %[[D:.*]] = ft.detach(%[[Y]])
// CHECK: %[[A:.*]] = ft.add(%[[D]], 1)
// CHECK: %[[K:.*]] = ft.aten "_keep_history.default"(%[[Y]], %[[A]])
// CHECK: ft.exp(%[[K]])
module {
  func.func @forward(%w: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.requires_grad, ft.target = "w"},
                     %x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %y = ft.mul(%w, %x) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %d = ft.detach(%y) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %m = ft.aten "add_.Tensor"(%d, 1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %e = ft.exp(%y) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    return %e : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

// Views of any kind: the elements go to the positions that the view shows.
//
// CHECK-LABEL: func.func @forward
// CHECK: %[[I:.*]] = ft.arange(5
// CHECK: %[[U:.*]] = ft.aten "unfold.default"(%{{.*}}, 0, 2, 3)
// CHECK: %{{.*}} = ft.aten "scatter.src"(
module {
  func.func @forward(%x: tensor<5xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<5xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %y = ft.exp(%x) : (tensor<5xf32, #ft.meta<cpu>>) -> tensor<5xf32, #ft.meta<cpu>>
    %u = ft.aten "unfold.default"(%y, 0, 2, 3) : (tensor<5xf32, #ft.meta<cpu>>) -> tensor<2x2xf32, #ft.meta<strides = [3, 1], cpu>>
    %m = ft.aten "add_.Tensor"(%u, 1) : (tensor<2x2xf32, #ft.meta<strides = [3, 1], cpu>>) -> tensor<2x2xf32, #ft.meta<strides = [3, 1], cpu>>
    return %y : tensor<5xf32, #ft.meta<cpu>>
  }
}
