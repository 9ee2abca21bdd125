// RUN: %ft-opt -ft-fake-propagate %s | FileCheck %s
// Sizes that data decide: one symbol for a tensor until it is written, the
// range of each in the module. Elements of tiny constants are known until one
// of their views is written.

// CHECK: ft.symbol "u0" {lower = 0 : i64, source = "nonzero", upper = 12 : i64}
// CHECK: ft.symbol "u1" {lower = 0 : i64, source = "nonzero", upper = 12 : i64}
// CHECK: ft.symbol "u2" {source = "item"}
module {
  func.func @forward(%x: tensor<3x4xf32, #ft.meta<cpu>>) {
    // CHECK: "nonzero.default"{{.*}} -> tensor<?x2xi64, #ft.meta<[u0], strides = [1, u0], cpu>>
    // CHECK: "nonzero.default"{{.*}} -> tensor<?x2xi64, #ft.meta<[u0], strides = [1, u0], cpu>>
    // CHECK: "nonzero.default"{{.*}} -> tensor<?x2xi64, #ft.meta<[u1], strides = [1, u1], cpu>>
    %a = ft.aten "nonzero.default"(%x) : (tensor<3x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %b = ft.aten "nonzero.default"(%x) : (tensor<3x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %z = ft.aten "zero_.default"(%x) : (tensor<3x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %c = ft.aten "nonzero.default"(%x) : (tensor<3x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>

    // arange(3) * 5 = {0, 5, 10}, of which the last is a size.
    %r = ft.aten "arange.default"(3, none, none, none, none) : () -> tensor<*x!ft.unknown>
    %m = ft.aten "mul.Tensor"(%r, 5) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %s = ft.aten "select.int"(%m, 0, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %i = ft.aten "item.default"(%s) : (tensor<*x!ft.unknown>) -> i64
    // CHECK: "zeros.default"{{.*}} -> tensor<10xf32, #ft.meta<cpu>>
    %f = ft.aten "zeros.default"([%i], none, none, none, none) : (i64) -> tensor<*x!ft.unknown>

    // Written through the base: not known any more.
    %w = ft.aten "zero_.default"(%m) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %j = ft.aten "item.default"(%s) : (tensor<*x!ft.unknown>) -> i64
    return
  }
}
