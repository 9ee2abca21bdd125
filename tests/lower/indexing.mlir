// RUN: %ft-opt -split-input-file -ft-lower-to-linalg %s | FileCheck %s

// Indices are checked once, then read freely; negative ones count from the end.
// CHECK-LABEL: func.func @forward
// CHECK: ft.check_index {{.*}}high = 5 : i64, low = -5 : i64
// CHECK: %[[I:.*]] = arith.select
// CHECK: tensor.extract %arg0[%{{.*}}, %[[I]]] : tensor<4x5xf32>
func.func @forward(%x: tensor<4x5xf32, #ft.meta<cpu>>, %i: tensor<2x3xi64, #ft.meta<cpu>>)
    -> (tensor<4x2x3xf32, #ft.meta<cpu>> {ft.role = "output"}) {
  %r = ft.aten "index.Tensor"(%x, [none, %i]) : (tensor<4x5xf32, #ft.meta<cpu>>, tensor<2x3xi64, #ft.meta<cpu>>) -> tensor<4x2x3xf32, #ft.meta<cpu>>
  return %r : tensor<4x2x3xf32, #ft.meta<cpu>>
}

// -----

// A scatter is a kernel of the runtime: start, values and index, then a sum (1)
// onto the start (1) with the loops of the index (16), no index left out, one
// loop; the only dim of the result is read from index 0.
// CHECK-LABEL: func.func @forward
// CHECK: ft.kernel_call {{.*}}"ft_k_update"(%arg0, %arg2, %arg1) {args = [#ft.operand, #ft.operand, #ft.operand, 1, 17, 0, 1, 0]
func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>>, %i: tensor<2xi64, #ft.meta<cpu>>, %s: tensor<2xf32, #ft.meta<cpu>>)
    -> (tensor<4xf32, #ft.meta<cpu>> {ft.role = "output"}) {
  %r = ft.aten "scatter_add.default"(%x, 0, %i, %s) : (tensor<4xf32, #ft.meta<cpu>>, tensor<2xi64, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<4xf32, #ft.meta<cpu>>
  return %r : tensor<4xf32, #ft.meta<cpu>>
}
