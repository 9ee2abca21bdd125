// RUN: %ft-opt -ft-lower %s -split-input-file | FileCheck %s
// Results whose sizes depend on data are the kernel's to allocate: it gets no
// memory, and the plan says which sizes the call finds.

// CHECK-LABEL: module attributes {ft.model = "found"
// CHECK-SAME: outputs = [{name = "i", type = tensor<?x1xi64
// CHECK: func.func @ft_gen_forward
// CHECK: llvm.mlir.zero : !llvm.ptr
// CHECK: llvm.mlir.addressof @ft_k_nonzero
// CHECK: llvm.call @ft_rt_call_kernel
module attributes {ft.model = "found"} {
  ft.symbol "u0" {lower = 0 : i64, upper = 4 : i64, source = "nonzero"}
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>> {ft.name = "i", ft.role = "output"}) {
    %i = ft.aten "nonzero.default"(%x) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>>
    return %i : tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>>
  }
}

// -----

// What is computed with them asks for memory when the kernel has told them.

// CHECK-LABEL: module attributes {ft.model = "computed_with"
// CHECK: llvm.call @ft_rt_call_kernel
// CHECK: llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
// CHECK: llvm.call @ft_rt_output
// CHECK: call @k{{[0-9]+}}_relu
module attributes {ft.model = "computed_with"} {
  ft.symbol "u0" {lower = 0 : i64, upper = 4 : i64, source = "masked_select"}
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"},
                     %m: tensor<4xi1, #ft.meta<cpu>> {ft.kind = "input", ft.target = "m"})
      -> (tensor<?xf32, #ft.meta<[u0], cpu>> {ft.name = "y", ft.role = "output"}) {
    %s = ft.aten "masked_select.default"(%x, %m) : (tensor<4xf32, #ft.meta<cpu>>, tensor<4xi1, #ft.meta<cpu>>) -> tensor<?xf32, #ft.meta<[u0], cpu>>
    %y = ft.relu(%s) : (tensor<?xf32, #ft.meta<[u0], cpu>>) -> tensor<?xf32, #ft.meta<[u0], cpu>>
    return %y : tensor<?xf32, #ft.meta<[u0], cpu>>
  }
}

// -----

// The sizes that a kernel finds are numbers like any other: it tells them in a
// vector of their own.

// CHECK-LABEL: module attributes {ft.model = "asked"
// CHECK-DAG: "too many\00"
// CHECK: llvm.call @ft_rt_call_kernel
// CHECK: llvm.call @ft_rt_fail
module attributes {ft.model = "asked"} {
  ft.symbol "u0" {lower = 0 : i64, upper = 4 : i64, source = "nonzero"}
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>> {ft.name = "i", ft.role = "output"},
          i64 {ft.name = "n", ft.role = "output"}) {
    %i = ft.aten "nonzero.default"(%x) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>>
    %n = ft.aten "sym_size.int"(%i, 0) {ft.value = "u0"} : (tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>>) -> i64
    %few = ft.aten "operator.le"(%n, 3) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%few, "too many") : (i1) -> ()
    return %i, %n : tensor<?x1xi64, #ft.meta<[u0], strides = [1, u0], cpu>>, i64
  }
}
