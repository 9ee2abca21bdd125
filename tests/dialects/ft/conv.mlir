// Convolutions: the example of each op in FtConv.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @conv1d(
// CHECK: ft.conv1d(
func.func @conv1d(%x: tensor<2x8x16xf32>, %w: tensor<4x8x3xf32>, %b: tensor<4xf32>) {
  %y = ft.conv1d(%x, %w, %b, [2], [1])
      : (tensor<2x8x16xf32>, tensor<4x8x3xf32>, tensor<4xf32>)
      -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: @conv2d(
// CHECK: ft.conv2d(
func.func @conv2d(%x: tensor<2x3x32x32xf32>, %w: tensor<8x3x7x7xf32>) {
  %y = ft.conv2d(%x, %w, none, [2, 2], [3, 3])
      : (tensor<2x3x32x32xf32>, tensor<8x3x7x7xf32>) -> tensor<2x8x16x16xf32>
  return
}

// CHECK-LABEL: @conv_transpose2d_input(
// CHECK: ft.conv_transpose2d.input(
func.func @conv_transpose2d_input(%x: tensor<2x8x4x4xf32>, %w: tensor<8x3x2x2xf32>) {
  %y = ft.conv_transpose2d.input(%x, %w, none, [2, 2])
      : (tensor<2x8x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<2x3x8x8xf32>
  return
}

// CHECK-LABEL: @convolution(
// CHECK: ft.convolution(
func.func @convolution(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  %y = ft.convolution(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  return
}
