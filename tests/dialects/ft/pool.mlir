// Pooling: the example of each op in FtPool.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @adaptive_avg_pool2d(
// CHECK: ft.adaptive_avg_pool2d(
func.func @adaptive_avg_pool2d(%x: tensor<2x3x8x8xf32>) {
  %y = ft.adaptive_avg_pool2d(%x, [1, 1])
      : (tensor<2x3x8x8xf32>) -> tensor<2x3x1x1xf32>
  return
}

// CHECK-LABEL: @avg_pool2d(
// CHECK: ft.avg_pool2d(
func.func @avg_pool2d(%x: tensor<2x3x8x8xf32>) {
  %y = ft.avg_pool2d(%x, [2, 2]) : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
  return
}

// CHECK-LABEL: @max_pool2d(
// CHECK: ft.max_pool2d(
func.func @max_pool2d(%x: tensor<2x3x8x8xf32>) {
  %y = ft.max_pool2d(%x, [2, 2]) : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
  return
}

// CHECK-LABEL: @max_pool2d_with_indices(
// CHECK: ft.max_pool2d_with_indices(
func.func @max_pool2d_with_indices(%x: tensor<2x3x8x8xf32>) {
  %y:2 = ft.max_pool2d_with_indices(%x, [2, 2])
      : (tensor<2x3x8x8xf32>) -> (tensor<2x3x4x4xf32>, tensor<2x3x4x4xi64>)
  return
}
