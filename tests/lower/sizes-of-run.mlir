// RUN: %ft-opt -ft-lower -split-input-file %s | FileCheck %s
// What rules make of sizes that they would put into tables if they were numbers.

// Where an element of the padded dim comes from is worked out for each: the
// distance from the edge, reflected at either of them.

// CHECK-LABEL: func.func private @k0_reflection_pad1d
// CHECK: %[[N:.*]] = ft.size_of "n"
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.subi %[[I]], %{{.*}} : index
// CHECK: arith.select
// CHECK: tensor.extract
module attributes {ft.model = "m"} {
  ft.symbol "n" {lower = 3 : i64, upper = 64 : i64, hint = 8 : i64, source = "x:1", title = "n"}
  func.func @forward(
      %x: tensor<4x?xf32, #ft.meta<[n], cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<4x?xf32, #ft.meta<["n + 3"], cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.aten "reflection_pad1d.default"(%x, [2, 1]) : (tensor<4x?xf32, #ft.meta<[n], cpu>>) -> tensor<4x?xf32, #ft.meta<["n + 3"], cpu>>
    return %y : tensor<4x?xf32, #ft.meta<["n + 3"], cpu>>
  }
}

// -----

// A C kernel is told the sizes before each call, and its scratch memory is an
// expression that ft_gen_sizes works out.

// CHECK-LABEL: llvm.func @ft_k_solve
// CHECK: func.func @ft_gen_sizes
// CHECK: arith.muli
// CHECK: arith.floordivsi
// CHECK: func.func @ft_gen_forward
// CHECK: llvm.mlir.addressof @ft_k_solve
// CHECK: llvm.call @ft_rt_call_kernel
module attributes {ft.model = "m"} {
  ft.symbol "n" {lower = 0 : i64, upper = 64 : i64, hint = 8 : i64, source = "a:0", title = "n"}
  func.func @forward(
      %a: tensor<?x?xf32, #ft.meta<[n, n], cpu>> {ft.kind = "input", ft.target = "a"},
      %b: tensor<?xf32, #ft.meta<[n], cpu>> {ft.kind = "input", ft.target = "b"})
      -> (tensor<?xf32, #ft.meta<[n], cpu>> {ft.name = "x", ft.role = "output"}) {
    %x = ft.aten "linalg_solve.default"(%a, %b) : (tensor<?x?xf32, #ft.meta<[n, n], cpu>>, tensor<?xf32, #ft.meta<[n], cpu>>) -> tensor<?xf32, #ft.meta<[n], cpu>>
    return %x : tensor<?xf32, #ft.meta<[n], cpu>>
  }
}
