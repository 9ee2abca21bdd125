// Losses: the example of each op in FtLoss.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @cross_entropy_loss(
// CHECK: ft.cross_entropy_loss(
func.func @cross_entropy_loss(%x: tensor<4x10xf32>, %t: tensor<4xi64>) {
  %y = ft.cross_entropy_loss(%x, %t)
      : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<f32>
  return
}

// CHECK-LABEL: @mse_loss(
// CHECK: ft.mse_loss(
func.func @mse_loss(%x: tensor<4xf32>, %t: tensor<4xf32>) {
  %y = ft.mse_loss(%x, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @nll_loss_forward(
// CHECK: ft.nll_loss_forward(
func.func @nll_loss_forward(%x: tensor<4x10xf32>, %t: tensor<4xi64>) {
  %y:2 = ft.nll_loss_forward(%x, %t, none, 1, -100)
      : (tensor<4x10xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<f32>)
  return
}
