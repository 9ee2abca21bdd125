// RUN: %ft-opt -ft-lower %s -split-input-file | FileCheck %s
// Numbers that the fake pass knew are constants of the calls; those that only
// the run knows are 0-dim tensors, and assertions on them are checks.

// CHECK-LABEL: module attributes {ft.model = "known"
// CHECK-NOT: ft_rt_fail
module attributes {ft.model = "known"} {
  func.func @forward(%x: tensor<3x4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<4x3xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %n = ft.aten "sym_size.int"(%x, 0) {ft.value = "3"} : (tensor<3x4xf32, #ft.meta<cpu>>) -> i64
    %ok = ft.aten "operator.ge"(%n, 0) {ft.value = "1"} : (i64) -> i1
    ft.aten "_assert_scalar.default"(%ok, "n >= 0") : (i1) -> ()
    %y = ft.view(%x, [4, %n]) : (tensor<3x4xf32, #ft.meta<cpu>>, i64) -> tensor<4x3xf32, #ft.meta<cpu>>
    %z = ft.mul.Scalar(%y, %n) : (tensor<4x3xf32, #ft.meta<cpu>>, i64) -> tensor<4x3xf32, #ft.meta<cpu>>
    return %z : tensor<4x3xf32, #ft.meta<cpu>>
  }
}

// -----

// CHECK-LABEL: module attributes {ft.model = "runtime"
// CHECK-DAG: "n >= 0\00"
// CHECK-DAG: "aten.operator.truediv: division by zero{{.*}}\00"
// CHECK: func.func @ft_gen_forward
// CHECK: llvm.load {{.*}} -> i8
// CHECK: llvm.call @ft_rt_fail
module attributes {ft.model = "runtime"} {
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"},
                     %n: tensor<i64, #ft.meta<cpu>> {ft.kind = "input", ft.target = "n"})
      -> (tensor<4xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}, f64 {ft.name = "q", ft.role = "output"}) {
    %i = ft.aten "item.default"(%n) {ft.value = "u0"} : (tensor<i64, #ft.meta<cpu>>) -> i64
    %ok = ft.aten "operator.ge"(%i, 0) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%ok, "n >= 0") : (i1) -> ()
    %q = ft.aten "operator.truediv"(1, %i) : (i64) -> f64
    %y = ft.mul.Scalar(%x, %q) : (tensor<4xf32, #ft.meta<cpu>>, f64) -> tensor<4xf32, #ft.meta<cpu>>
    return %y, %q : tensor<4xf32, #ft.meta<cpu>>, f64
  }
}

// -----

// A number that is an expression of sizes is worked out by the run.
// CHECK-LABEL: module attributes {ft.model = "mean of all"
// CHECK: func.func private @k0_div
// CHECK: ft.size_of "4*s0"
// CHECK: arith.sitofp
// CHECK: arith.divf
module attributes {ft.model = "mean of all"} {
  ft.symbol "s0" {title = "batch", hint = 2, lower = 0}
  func.func @forward(%x: tensor<?x4xf32, #ft.meta<[s0], cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<?x4xf32, #ft.meta<[s0], cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.div.Scalar(%x, {size = "4*s0"}) : (tensor<?x4xf32, #ft.meta<[s0], cpu>>) -> tensor<?x4xf32, #ft.meta<[s0], cpu>>
    return %y : tensor<?x4xf32, #ft.meta<[s0], cpu>>
  }
}
