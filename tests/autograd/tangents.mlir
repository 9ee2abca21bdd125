// RUN: %ft-opt -ft-autograd -split-input-file %s | FileCheck %s
// A value that is returned twice, and once more as a view, takes a tangent at
// each place; what is written back to an input takes none.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<2x3xf32, #ft.meta<cpu>> {{.*}}%[[A:[a-z0-9]+]]: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "tangent", ft.name = "tangent_y", ft.target = "tangent_y"}, %[[B:[a-z0-9]+]]: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "tangent", ft.name = "tangent_y_2", ft.target = "tangent_y_2"}, %[[C:[a-z0-9]+]]: tensor<3x2xf32, {{.*}}strides = [1, 3]{{.*}} {ft.kind = "tangent", ft.name = "tangent_t"
// CHECK-SAME: ft.name = "y", {{.*}}ft.name = "y_2"
// CHECK-NOT: tangent_output
// CHECK: %[[D:.*]] = ft.t(%[[C]])
// CHECK: %[[AB:.*]] = ft.add(%[[A]], %[[B]])
// CHECK: %[[ABD:.*]] = ft.add(%[[AB]], %[[D]])
module {
  func.func @forward(%w: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad},
                     %x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2x3xf32, #ft.meta<cpu>> {ft.role = "input_mutation", ft.target = "x"},
          tensor<2x3xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"},
          tensor<2x3xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"},
          tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>> {ft.name = "t", ft.role = "output"}) {
    %y = ft.mul(%w, %x) : (tensor<2x3xf32, #ft.meta<cpu>>, tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<2x3xf32, #ft.meta<cpu>>
    %n = ft.exp(%y) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<2x3xf32, #ft.meta<cpu>>
    %t = ft.t(%y) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>
    return %n, %y, %y, %t : tensor<2x3xf32, #ft.meta<cpu>>, tensor<2x3xf32, #ft.meta<cpu>>, tensor<2x3xf32, #ft.meta<cpu>>, tensor<3x2xf32, #ft.meta<strides = [1, 3], cpu>>
  }
}

// -----

// What is written to an input whose gradient is asked for is an output as
// others, with which the caller goes on; its tangent says whose.
//
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "tangent", ft.name = "input_tangent_x", ft.target = "input_tangent_x"}, %[[U:[a-z0-9]+]]: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "tangent", ft.name = "tangent_y"
// CHECK: %[[S:.*]] = ft.add(%[[T]], %[[U]])
// CHECK: %[[G:.*]] = ft.mul.Scalar(%[[S]], 3
// CHECK: return {{.*}}, %[[G]]
module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x", ft.requires_grad})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "input_mutation", ft.target = "x"},
          tensor<2xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %n = ft.mul.Scalar(%x, 3) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %y = ft.add.Scalar(%n, 1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    return %n, %y : tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>
  }
}
