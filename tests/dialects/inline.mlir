// What a function makes is new in each call: two copies of one `nonzero` give
// two symbols, with what is known of them (FtInliner.h).
//
// RUN: %ft-opt %s --inline --split-input-file | FileCheck %s

// CHECK: ft.symbol "u1" {lower = 0 : i64, source = "n", upper = 4 : i64}
// CHECK-NEXT: ft.symbol "u2" {lower = 0 : i64, source = "n", upper = 4 : i64}
// CHECK-NEXT: ft.symbol "u0" {lower = 0 : i64, source = "n", upper = 4 : i64}
// CHECK: ft.fact "u1 <= 4"
// CHECK-NEXT: ft.fact "u2 <= 4"
// CHECK-NEXT: ft.fact "u0 <= 4"
ft.symbol "u0" {lower = 0 : i64, upper = 4 : i64, source = "n"}
ft.symbol "s0" {lower = 1 : i64, source = "x:0"}
ft.fact "u0 <= 4"
func.func private @indices(%x: tensor<?xf32, #ft.meta<[s0], cpu>>) -> tensor<i64, #ft.meta<cpu>> {
  %n = ft.aten "nonzero.default"(%x) {ft.name = "n"} : (tensor<?xf32, #ft.meta<[s0], cpu>>) -> tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>>
  %s = ft.sum(%n) : (tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>>) -> tensor<i64, #ft.meta<cpu>>
  return %s : tensor<i64, #ft.meta<cpu>>
}
// CHECK-LABEL: @forward
// CHECK: ft.aten "nonzero.default"(%arg0) {{.*}} -> tensor<?x1xi64, #ft.meta<[u1], strides = [1, u1], cpu>>
// CHECK: ft.sum(%{{.*}}) : (tensor<?x1xi64, #ft.meta<[u1], strides = [1, u1], cpu>>)
// CHECK: ft.aten "nonzero.default"(%arg1) {{.*}} -> tensor<?x1xi64, #ft.meta<[u2], strides = [1, u2], cpu>>
func.func @forward(%x: tensor<?xf32, #ft.meta<[s0], cpu>>, %y: tensor<?xf32, #ft.meta<[s0], cpu>>) -> tensor<i64, #ft.meta<cpu>> {
  %a = func.call @indices(%x) : (tensor<?xf32, #ft.meta<[s0], cpu>>) -> tensor<i64, #ft.meta<cpu>>
  %b = func.call @indices(%y) : (tensor<?xf32, #ft.meta<[s0], cpu>>) -> tensor<i64, #ft.meta<cpu>>
  %c = ft.add(%a, %b) : (tensor<i64, #ft.meta<cpu>>, tensor<i64, #ft.meta<cpu>>) -> tensor<i64, #ft.meta<cpu>>
  return %c : tensor<i64, #ft.meta<cpu>>
}

// -----

// A size that is returned keeps the caller's name, behind a check.
func.func private @indices(%x: tensor<4xf32, #ft.meta<cpu>>) -> tensor<?x1xi64, #ft.meta<[u0], cpu>> {
  %n = ft.aten "nonzero.default"(%x) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<?x1xi64, #ft.meta<[u0], cpu>>
  return %n : tensor<?x1xi64, #ft.meta<[u0], cpu>>
}
// CHECK-LABEL: @forward
// CHECK: %[[N:.*]] = ft.aten "nonzero.default"(%arg0) : {{.*}} -> tensor<?x1xi64, #ft.meta<[u1], cpu>>
// CHECK: %[[R:.*]] = ft.refine %[[N]] : tensor<?x1xi64, #ft.meta<[u1], cpu>> -> tensor<?x1xi64, #ft.meta<[u0], cpu>>
// CHECK: return %[[R]]
func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>>) -> tensor<?x1xi64, #ft.meta<[u0], cpu>> {
  %a = func.call @indices(%x) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<?x1xi64, #ft.meta<[u0], cpu>>
  return %a : tensor<?x1xi64, #ft.meta<[u0], cpu>>
}
