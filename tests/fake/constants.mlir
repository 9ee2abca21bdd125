// RUN: %ft-opt -split-input-file -ft-fake-propagate %s | FileCheck %s
// Arguments that are constants of the model state their elements: sizes that
// are computed with them are known.

module {
  // CHECK-NOT: ft.symbol
  // CHECK: ft.constant = dense<[3, 4]> : tensor<2xi64>
  func.func @forward(%n: tensor<2xi64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<[3, 4]> : tensor<2xi64>},
                     %f: tensor<i64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<5> : tensor<i64>},
                     %o: tensor<i64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<2> : tensor<i64>}) {
    %c = ft.aten "lift_fresh_copy.default"(%n) : (tensor<2xi64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    // In place only in name.
    %d = ft.aten "detach_.default"(%c) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %m = ft.aten "mul.Tensor"(%d, %f) : (tensor<*x!ft.unknown>, tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %i = ft.aten "floor_divide.default"(%m, %o) : (tensor<*x!ft.unknown>, tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %u:2 = ft.aten "unbind.int"(%i, 0) : (tensor<*x!ft.unknown>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    %a = ft.aten "item.default"(%u#0) : (tensor<*x!ft.unknown>) -> i64
    %b = ft.aten "item.default"(%u#1) : (tensor<*x!ft.unknown>) -> i64
    // CHECK: "zeros.default"{{.*}} -> tensor<7x10xf32, #ft.meta<cpu>>
    %z = ft.aten "zeros.default"([%a, %b], none, none, none, none) : (i64, i64) -> tensor<*x!ft.unknown>
    return
  }
}

// -----

// Written, if only behind the use: the next run reads another value.
module {
  // CHECK: ft.symbol "u0" {source = "item"}
  func.func @forward(%n: tensor<i64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<3> : tensor<i64>}) {
    %a = ft.aten "item.default"(%n) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %v = ft.aten "view.default"(%n, [1]) : (tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %w = ft.aten "zero_.default"(%v) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return
  }
}

// -----

// The copy is written, the constant is not.
module {
  // CHECK: ft.symbol "u0" {source = "item"}
  // CHECK-NOT: ft.symbol
  func.func @forward(%n: tensor<i64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<3> : tensor<i64>}) {
    %c = ft.aten "lift_fresh_copy.default"(%n) : (tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %w = ft.aten "random_.default"(%c, none) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %a = ft.aten "item.default"(%c) : (tensor<*x!ft.unknown>) -> i64
    %b = ft.aten "item.default"(%n) : (tensor<i64, #ft.meta<cpu>>) -> i64
    return
  }
}
