// RUN: %ft-opt -ft-lower %s | FileCheck %s
// A size of the run is a number in kernels: symbols are their arguments, and
// `ft.size_of` computes with them. The entry function reads symbols from its
// last argument; ft_gen_sizes says how large everything is.

// CHECK-LABEL: module attributes {{.*}}symbols = [{dim = 0 : i64, hint = 8 : i64, input = 0 : i64
// CHECK: func.func private @k0_linear_relu(%arg0: memref<?x16xf32, strided<[16, 1]>> {ft.layout = tensor<?x16xui8, #ft.meta<[b], cpu>>}
// CHECK-SAME: index {ft.hint = 8 : i64, ft.lower = 0 : i64, ft.symbol = "b", ft.upper = 64 : i64}
// CHECK: %[[B:.*]] = ft.size_of "b"
// CHECK: tensor.empty(%[[B]]) : tensor<?x64xf32>
// CHECK: func.func @ft_gen_sizes
// CHECK: func.func @ft_gen_forward
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %arg6[0]
// CHECK: llvm.load %[[SLOT]] : !llvm.ptr -> i64
// CHECK: call @k0_linear_relu
// CHECK: call @k1_sum
module attributes {ft.model = "m"} {
  ft.symbol "b" {lower = 0 : i64, upper = 64 : i64, hint = 8 : i64, source = "x:0", title = "batch"}
  func.func @forward(
      %w: tensor<64x16xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.weight = "data/weights/weight_0"},
      %x: tensor<?x16xf32, #ft.meta<[b], cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<64xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %h = ft.linear(%x, %w) : (tensor<?x16xf32, #ft.meta<[b], cpu>>, tensor<64x16xf32, #ft.meta<cpu>>) -> tensor<?x64xf32, #ft.meta<[b], cpu>>
    %r = ft.relu(%h) : (tensor<?x64xf32, #ft.meta<[b], cpu>>) -> tensor<?x64xf32, #ft.meta<[b], cpu>>
    %s = ft.sum.dim_IntList(%r, [0]) : (tensor<?x64xf32, #ft.meta<[b], cpu>>) -> tensor<64xf32, #ft.meta<cpu>>
    return %s : tensor<64xf32, #ft.meta<cpu>>
  }
}
