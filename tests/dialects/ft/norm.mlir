// Normalizations: the example of each op in FtNorm.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @batch_norm(
// CHECK: ft.batch_norm(
func.func @batch_norm(%x: tensor<2x8x4x4xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>) {
  %y = ft.batch_norm(%x, %w, %b, %m, %v, false, 0.1, 1.0e-05, true)
      : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> tensor<2x8x4x4xf32>
  return
}

// CHECK-LABEL: @group_norm(
// CHECK: ft.group_norm(
func.func @group_norm(%x: tensor<2x8x4x4xf32>) {
  %y = ft.group_norm(%x, 4) : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  return
}

// CHECK-LABEL: @layer_norm(
// CHECK: ft.layer_norm(
func.func @layer_norm(%x: tensor<2x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>) {
  %y = ft.layer_norm(%x, [64], %w, %b)
      : (tensor<2x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2x64xf32>
  return
}

// CHECK-LABEL: @native_group_norm(
// CHECK: ft.native_group_norm(
func.func @native_group_norm(%x: tensor<2x8x4x4xf32>) {
  %y:3 = ft.native_group_norm(%x, none, none, 2, 8, 16, 4, 1.0e-05)
      : (tensor<2x8x4x4xf32>)
      -> (tensor<2x8x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// CHECK-LABEL: @native_layer_norm(
// CHECK: ft.native_layer_norm(
func.func @native_layer_norm(%x: tensor<2x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>) {
  %y:3 = ft.native_layer_norm(%x, [64], %w, %b, 1.0e-05)
      : (tensor<2x64xf32>, tensor<64xf32>, tensor<64xf32>)
      -> (tensor<2x64xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// CHECK-LABEL: @rms_norm(
// CHECK: ft.rms_norm(
func.func @rms_norm(%x: tensor<2x64xf32>, %w: tensor<64xf32>) {
  %y = ft.rms_norm(%x, [64], %w, 1.0e-06)
      : (tensor<2x64xf32>, tensor<64xf32>) -> tensor<2x64xf32>
  return
}
