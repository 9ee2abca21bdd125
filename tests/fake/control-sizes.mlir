// Sizes that only run time decides: each is bound where it is made.
//
// RUN: %ft-opt %s --ft-fake-propagate --split-input-file > %t
// RUN: FileCheck %s < %t
// Annotating again gives the same names.
// RUN: %ft-opt %t --ft-fake-propagate --split-input-file | diff %t -
// Nothing of it is removed as unused.
// RUN: %ft-opt %t --symbol-dce --split-input-file | diff %t -

// Branches of different sizes join through ft.refine.
//
// CHECK: ft.symbol "u0" {lower = 2 : i64, source = "cond", upper = 3 : i64}
// CHECK-LABEL: @forward
// CHECK-SAME: -> tensor<?x5xf32, #ft.meta<[u0], cpu>>
// CHECK: ft.cond({{.*}} -> tensor<?x5xf32, #ft.meta<[u0], cpu>>
// CHECK: %[[R:.*]] = ft.refine %{{.*}} : tensor<2x5xf32, #ft.meta<cpu>> -> tensor<?x5xf32, #ft.meta<[u0], cpu>>
// CHECK: ft.yield %[[R]] : tensor<?x5xf32, #ft.meta<[u0], cpu>>
// CHECK: %[[R:.*]] = ft.refine %{{.*}} : tensor<3x5xf32, #ft.meta<cpu>> -> tensor<?x5xf32, #ft.meta<[u0], cpu>>
// CHECK: ft.yield %[[R]] : tensor<?x5xf32, #ft.meta<[u0], cpu>>
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %s = ft.slice(%a, 0, 0, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %c = ft.clone(%s) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %s = ft.slice(%a, 0, 0, 3) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %m = ft.mul(%s, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %m : tensor<*x!ft.unknown>
  }
  return %y : tensor<*x!ft.unknown>
}

// -----

// What each branch makes is its own, what comes out has a third name.
//
// CHECK-DAG: ft.symbol "u0" {lower = 0 : i64, source = "nonzero", upper = 20 : i64}
// CHECK-DAG: ft.symbol "u1" {lower = 0 : i64, source = "nonzero", upper = 20 : i64}
// CHECK-DAG: ft.symbol "u2" {lower = 0 : i64, source = "cond", upper = 20 : i64}
// CHECK-LABEL: @forward
// CHECK: ft.cond({{.*}} -> tensor<?x2xi64, #ft.meta<[u2], strides = [1, u2], cpu>>
// CHECK: ft.aten "nonzero.default"({{.*}} -> tensor<?x2xi64, #ft.meta<[u0], strides = [1, u0], cpu>>
// CHECK: ft.refine {{.*}}[u0]{{.*}} -> tensor<?x2xi64, #ft.meta<[u2], strides = [1, u2], cpu>>
// CHECK: ft.aten "nonzero.default"({{.*}} -> tensor<?x2xi64, #ft.meta<[u1], strides = [1, u1], cpu>>
// CHECK: ft.refine {{.*}}[u1]{{.*}} -> tensor<?x2xi64, #ft.meta<[u2], strides = [1, u2], cpu>>
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %n = ft.aten "nonzero.default"(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %n : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %n = ft.aten "nonzero.default"(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %n : tensor<*x!ft.unknown>
  }
  return
}

// -----

// An integer that a loop carries is another one in each iteration, and behind
// the loop.
//
// CHECK: ft.symbol "u0" {source = "while"}
// CHECK: ft.symbol "u1" {source = "while"}
// CHECK-LABEL: @forward
func.func @forward(%x: tensor<f32, #ft.meta<cpu>>) {
  %zero = arith.constant 0 : i64
  %n, %y = ft.while(%zero, %x) : (i64, tensor<f32, #ft.meta<cpu>>) -> (i64, tensor<*x!ft.unknown>)
  cond (%k: i64, %a: tensor<*x!ft.unknown>) {
    %p = ft.lt.Scalar(%a, %k) : (tensor<*x!ft.unknown>, i64) -> tensor<*x!ft.unknown>
    ft.yield %p : tensor<*x!ft.unknown>
  } do (%k: i64, %a: tensor<*x!ft.unknown>) {
    %next = ft.aten "operator.add"(%k, 1) : (i64) -> i64
    %s = ft.add(%a, %next) : (tensor<*x!ft.unknown>, i64) -> tensor<*x!ft.unknown>
    ft.yield %next, %s : i64, tensor<*x!ft.unknown>
  }
  return
}
