// RUN: %ft-opt -ft-fake-propagate -ft-functionalize -split-input-file %s | FileCheck %s
// What is written to inputs are results of their own in front of what the model
// returns, which stays as many and as they were.

// A copy into an input that is also returned: the write and the output, each
// with the name of what it is.
//
// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "input_mutation", ft.target = "to"}, tensor<2xf32, #ft.meta<cpu>> {ft.name = "copied", ft.role = "output"})
// CHECK: %[[C:.*]] = ft.{{.*}}copy{{.*}}(%arg0, %arg1)
// CHECK: return %[[C]], %[[C]]
module {
  func.func @forward(%to: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "to"},
                     %x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.name = "copied", ft.role = "output"}) {
    %c = ft.aten "copy_.default"(%to, %x) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %c : tensor<*x!ft.unknown>
  }
}

// -----

// rrelu writes the slopes that it drew to `noise`: one output.
//
// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "input_mutation", ft.target = "noise"}, tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"})
// CHECK: %[[R:.*]]:2 = ft.aten "rrelu_with_noise_functional.default"(%arg0, %arg1
// CHECK: return %[[R]]#1, %[[R]]#0
module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"},
                     %noise: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "noise"}) -> (tensor<*x!ft.unknown> {ft.role = "output"}) {
    %y = ft.aten "rrelu_with_noise.default"(%x, %noise, 0.1, 0.3, true) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}

// -----

// A write through a view of an input is one to the input.
//
// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<12xf32, #ft.meta<cpu>> {ft.role = "input_mutation", ft.target = "x"}, tensor<3x2x2xf32, #ft.meta<cpu>> {ft.role = "output"})
// CHECK: %[[V:.*]] = ft.{{.*}}view{{.*}}(%arg0, [3, 2, -1])
// CHECK: %[[A:.*]] = ft.{{.*}}add{{.*}}(%[[V]], 2)
// CHECK: %[[X:.*]] = ft.{{.*}}reshape{{.*}}(%[[A]], [12])
// CHECK: return %[[X]], %[[A]]
module {
  func.func @forward(%x: tensor<12xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output"}) {
    %v = ft.aten "view.default"(%x, [3, 2, -1]) : (tensor<12xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %a = ft.aten "add_.Tensor"(%v, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %a : tensor<*x!ft.unknown>
  }
}
