// Elements chosen by other tensors: the example of each op in FtIndexing.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @embedding(
// CHECK: ft.embedding(
func.func @embedding(%w: tensor<50x16xf32>, %i: tensor<2x8xi64>) {
  %y = ft.embedding(%w, %i)
      : (tensor<50x16xf32>, tensor<2x8xi64>) -> tensor<2x8x16xf32>
  return
}

// CHECK-LABEL: @gather(
// CHECK: ft.gather(
func.func @gather(%x: tensor<2x3xf32>, %i: tensor<2x1xi64>) {
  %y = ft.gather(%x, 1, %i)
      : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2x1xf32>
  return
}

// CHECK-LABEL: @index(
// CHECK: ft.index(
func.func @index(%x: tensor<2x3xf32>, %i: tensor<4xi64>) {
  %y = ft.index(%x, [none, %i])
      : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @index_put(
// CHECK: ft.index_put(
func.func @index_put(%x: tensor<3xf32>, %i: tensor<2xi64>, %v: tensor<2xf32>) {
  %y = ft.index_put(%x, [%i], %v)
      : (tensor<3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @index_select(
// CHECK: ft.index_select(
func.func @index_select(%x: tensor<2x3xf32>, %i: tensor<4xi64>) {
  %y = ft.index_select(%x, 1, %i)
      : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @topk(
// CHECK: ft.topk(
func.func @topk(%x: tensor<2x4xf32>) {
  %y:2 = ft.topk(%x, 2)
      : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  return
}
