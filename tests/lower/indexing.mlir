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

// A scatter is turned around: every element visits the updates.
// CHECK-LABEL: func.func @forward
// CHECK: ft.check_index {{.*}}high = 4 : i64, low = 0 : i64
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: %[[HIT:.*]] = arith.cmpi eq
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: arith.select %[[HIT]], %[[SUM]]
func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>>, %i: tensor<2xi64, #ft.meta<cpu>>, %s: tensor<2xf32, #ft.meta<cpu>>)
    -> (tensor<4xf32, #ft.meta<cpu>> {ft.role = "output"}) {
  %r = ft.aten "scatter_add.default"(%x, 0, %i, %s) : (tensor<4xf32, #ft.meta<cpu>>, tensor<2xi64, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<4xf32, #ft.meta<cpu>>
  return %r : tensor<4xf32, #ft.meta<cpu>>
}
