// RUN: %ft-opt -ft-lower %s -split-input-file | FileCheck %s
// A branch is a function of its own; the entry function chooses which runs. A
// loop runs one function for its condition and one for its body, whose results
// become what is carried.

// CHECK-LABEL: module attributes {ft.model = "branch"
// CHECK: func.func private @ft_graph0(
// CHECK: call @k{{[0-9]+}}_sin
// CHECK: func.func private @ft_graph1(
// CHECK: call @k{{[0-9]+}}_cos
// CHECK: func.func @ft_gen_forward
// CHECK: cf.cond_br %{{.*}}, ^[[THEN:bb[0-9]+]], ^[[ELSE:bb[0-9]+]]
// CHECK-DAG: call @ft_graph0
// CHECK-DAG: call @ft_graph1
module attributes {ft.model = "branch"} {
  func.func @forward(%p: tensor<i1, #ft.meta<cpu>> {ft.kind = "input", ft.target = "p"},
                     %x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    then (%a: tensor<2xf32, #ft.meta<cpu>>) {
      %s = ft.sin(%a) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      ft.yield %s : tensor<2xf32, #ft.meta<cpu>>
    } else (%a: tensor<2xf32, #ft.meta<cpu>>) {
      %c = ft.cos(%a) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      ft.yield %c : tensor<2xf32, #ft.meta<cpu>>
    }
    return %y : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

// CHECK-LABEL: module attributes {ft.model = "loop"
// CHECK: func.func @ft_gen_forward
// CHECK: "llvm.intr.memcpy"
// CHECK: cf.br ^[[HEAD:bb[0-9]+]]
// CHECK: ^[[HEAD]]:
// CHECK: call @ft_graph0
// CHECK: call @ft_graph1
// CHECK: cf.br ^[[HEAD]]
module attributes {ft.model = "loop"} {
  func.func @forward(%i: tensor<i64, #ft.meta<cpu>> {ft.kind = "input", ft.target = "i"})
      -> (tensor<i64, #ft.meta<cpu>> {ft.name = "n", ft.role = "output"}) {
    %n = ft.while(%i) : (tensor<i64, #ft.meta<cpu>>) -> tensor<i64, #ft.meta<cpu>>
    cond (%k: tensor<i64, #ft.meta<cpu>>) {
      %lt = ft.lt.Scalar(%k, 5) : (tensor<i64, #ft.meta<cpu>>) -> tensor<i1, #ft.meta<cpu>>
      ft.yield %lt : tensor<i1, #ft.meta<cpu>>
    } do (%k: tensor<i64, #ft.meta<cpu>>) {
      %next = ft.add(%k, 1) : (tensor<i64, #ft.meta<cpu>>) -> tensor<i64, #ft.meta<cpu>>
      ft.yield %next : tensor<i64, #ft.meta<cpu>>
    }
    return %n : tensor<i64, #ft.meta<cpu>>
  }
}
