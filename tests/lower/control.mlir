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

// -----

// A scan counts positions, here from the last one on; each is an address.

// CHECK-LABEL: module attributes {ft.model = "reverse"
// CHECK: func.func @ft_gen_forward
// CHECK: llvm.call @ft_rt_mark
// CHECK: cf.br ^[[HEAD:bb[0-9]+]](%{{.*}} : i64)
// CHECK: ^[[HEAD]](%[[I:.*]]: i64):
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]]
// CHECK: %[[P:.*]] = arith.subi %{{.*}}, %[[NEXT]]
// CHECK: arith.muli %{{.*}}, %[[P]]
// CHECK: call @ft_graph0
// CHECK: llvm.call @ft_rt_release
// CHECK: cf.br ^[[HEAD]](%[[NEXT]] : i64)
module attributes {ft.model = "reverse"} {
  ft.symbol "s0" {hint = 4 : i64, lower = 0 : i64, source = "x:0", upper = 64 : i64}
  func.func @forward(%h: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "h"},
                     %x: tensor<?x2xf32, #ft.meta<[s0], cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<?x2xf32, #ft.meta<[s0], cpu>> {ft.name = "y", ft.role = "output"}) {
    %c, %y = ft.scan init(%h) over(%x) {reverse} : (tensor<2xf32, #ft.meta<cpu>>, tensor<?x2xf32, #ft.meta<[s0], cpu>>) -> (tensor<2xf32, #ft.meta<cpu>>, tensor<?x2xf32, #ft.meta<[s0], cpu>>)
    do (%a: tensor<2xf32, #ft.meta<cpu>>, %b: tensor<2xf32, #ft.meta<cpu>>) {
      %s = ft.add(%a, %b) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      %t = ft.tanh(%s) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      ft.yield %s, %t : tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>
    }
    return %y : tensor<?x2xf32, #ft.meta<[s0], cpu>>
  }
}

// -----

// A branch makes the memory of a result whose size it decides; the size stands
// where others read it.

// CHECK-LABEL: module attributes {ft.model = "joined"
// CHECK: func.func private @ft_graph0(
// CHECK: %[[MEMORY:.*]] = llvm.call @ft_rt_temporary
// CHECK: llvm.store %[[MEMORY]]
// CHECK: func.func @ft_gen_forward
// CHECK-DAG: llvm.call @ft_rt_output
// CHECK-DAG: cf.br ^{{.*}}(%{{.*}} : !llvm.ptr)
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[TOLD:.*]] = arith.index_cast %[[TWO]] : index to i64
// CHECK-DAG: llvm.store %[[TOLD]], %{{.*}} : i64, !llvm.ptr
module attributes {ft.model = "joined"} {
  ft.symbol "u0" {lower = 2 : i64, source = "cond", upper = 3 : i64}
  func.func @forward(%p: tensor<i1, #ft.meta<cpu>> {ft.kind = "input", ft.target = "p"},
                     %x: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<?xf32, #ft.meta<[u0], cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4xf32, #ft.meta<cpu>>) -> tensor<?xf32, #ft.meta<[u0], cpu>>
    then (%a: tensor<4xf32, #ft.meta<cpu>>) {
      %s = ft.slice(%a, 0, 0, 2) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      %t = ft.neg(%s) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      %r = ft.refine %t : tensor<2xf32, #ft.meta<cpu>> -> tensor<?xf32, #ft.meta<[u0], cpu>>
      ft.yield %r : tensor<?xf32, #ft.meta<[u0], cpu>>
    } else (%a: tensor<4xf32, #ft.meta<cpu>>) {
      %s = ft.slice(%a, 0, 1, 4) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<3xf32, #ft.meta<cpu>>
      %t = ft.abs(%s) : (tensor<3xf32, #ft.meta<cpu>>) -> tensor<3xf32, #ft.meta<cpu>>
      %r = ft.refine %t : tensor<3xf32, #ft.meta<cpu>> -> tensor<?xf32, #ft.meta<[u0], cpu>>
      ft.yield %r : tensor<?xf32, #ft.meta<[u0], cpu>>
    }
    return %y : tensor<?xf32, #ft.meta<[u0], cpu>>
  }
}
