// Branches and loops: the example of each op in FtControl.td, read, printed and
// read again, also in the generic form.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: %ft-opt %s --mlir-print-op-generic | %ft-opt | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @cond(
// CHECK: %0 = ft.cond(%arg0, %arg1) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: then (%arg2: tensor<2xf32>) {
// CHECK: } else (%arg2: tensor<2xf32>) {
func.func @cond(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = ft.cond(%p, %x) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  then (%a: tensor<2xf32>) {
    %s = ft.sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    ft.yield %s : tensor<2xf32>
  } else (%a: tensor<2xf32>) {
    %c = ft.cos(%a) : (tensor<2xf32>) -> tensor<2xf32>
    ft.yield %c : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// The predicate may be a bool of the program, and there may be nothing to
// capture and nothing to yield.
//
// CHECK-LABEL: @cond_bool(
// CHECK: ft.cond(%arg0) : (i1) -> ()
// CHECK-NEXT: then () {
// CHECK-NEXT: ft.yield
func.func @cond_bool(%p: i1) {
  ft.cond(%p) : (i1) -> () then () { ft.yield } else () { ft.yield }
  return
}

// CHECK-LABEL: @while(
// CHECK: %0:2 = ft.while(%arg0, %arg1) captured(%arg2) :
// CHECK-NEXT: cond (%arg3: tensor<i64>, %arg4: tensor<2xf32>, %arg5: tensor<2xf32>) {
// CHECK: } do (%arg3: tensor<i64>, %arg4: tensor<2xf32>, %arg5: tensor<2xf32>) {
func.func @while(%i: tensor<i64>, %x: tensor<2xf32>, %w: tensor<2xf32>) {
  %n, %y = ft.while(%i, %x) captured(%w)
    : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>)
  cond (%k: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
    %lt = ft.lt.Scalar(%k, 5) : (tensor<i64>) -> tensor<i1>
    ft.yield %lt : tensor<i1>
  } do (%k: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
    %next = ft.add(%k, 1) : (tensor<i64>) -> tensor<i64>
    %m = ft.mul(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    ft.yield %next, %m : tensor<i64>, tensor<2xf32>
  }
  return
}

// CHECK-LABEL: @scan(
// CHECK: %0:2 = ft.scan init(%arg0) over(%arg1) :
// CHECK-NEXT: do (%arg2: tensor<2xf32>, %arg3: tensor<2xf32>) {
func.func @scan(%h: tensor<2xf32>, %x: tensor<4x2xf32>) {
  %c, %ys = ft.scan init(%h) over(%x)
    : (tensor<2xf32>, tensor<4x2xf32>) -> (tensor<2xf32>, tensor<4x2xf32>)
  do (%a: tensor<2xf32>, %b: tensor<2xf32>) {
    %s = ft.add(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %t = ft.tanh(%s) : (tensor<2xf32>) -> tensor<2xf32>
    ft.yield %s, %t : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// CHECK-LABEL: @map_backward(
// CHECK: ft.scan init() over(%arg0) captured(%arg1) {dim = 1 : i64, reverse} :
func.func @map_backward(%x: tensor<4x2xf32>, %w: tensor<4xf32>) {
  %ys = ft.scan init() over(%x) captured(%w) {dim = 1 : i64, reverse}
    : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<4x2xf32>
  do (%b: tensor<4xf32>, %v: tensor<4xf32>) {
    %t = ft.mul(%b, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ft.yield %t : tensor<4xf32>
  }
  return
}

// The archive's names of arguments are those of the text.
//
// CHECK-LABEL: @names(
// CHECK: then (%p_weight: tensor<2xf32>) {
// CHECK: } else (%x: tensor<2xf32>) {
func.func @names(%p: tensor<i1>, %w: tensor<2xf32>) {
  %y = ft.cond(%p, %w) {ft.graphs = [{name = "true_graph_0", arguments = ["p_weight"]},
                                     {name = "false_graph_0", arguments = ["x"]}]}
    : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  then (%a: tensor<2xf32>) {
    ft.yield %a : tensor<2xf32>
  } else (%a: tensor<2xf32>) {
    ft.yield %a : tensor<2xf32>
  }
  return
}

// Before the fake stage a tensor of no known layout goes with every other.
//
// CHECK-LABEL: @unknown(
func.func @unknown(%p: tensor<i1>, %w: tensor<2xf32>) -> tensor<*x!ft.unknown> {
  %y = ft.cond(%p, %w) : (tensor<i1>, tensor<2xf32>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    ft.yield %a : tensor<*x!ft.unknown>
  } else (%a: tensor<2xf32>) {
    ft.yield %a : tensor<2xf32>
  }
  return %y : tensor<*x!ft.unknown>
}

// CHECK-LABEL: @refine(
// CHECK: ft.refine %arg0 : tensor<2x3xf32, #ft.meta<cpu>> -> tensor<?x3xf32, #ft.meta<[u0], cpu>>
func.func @refine(%x: tensor<2x3xf32, #ft.meta<cpu>>) {
  %y = ft.refine %x : tensor<2x3xf32, #ft.meta<cpu>> -> tensor<?x3xf32, #ft.meta<[u0], cpu>>
  return
}
