// Reductions and scans: the example of each op in FtReduce.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @amax(
// CHECK: ft.amax(
func.func @amax(%x: tensor<2x3xf32>) {
  %y = ft.amax(%x, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @amin(
// CHECK: ft.amin(
func.func @amin(%x: tensor<2x3xf32>) {
  %y = ft.amin(%x, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @any_dim(
// CHECK: ft.any.dim(
func.func @any_dim(%x: tensor<2x3xi1>) {
  %y = ft.any.dim(%x, 1) : (tensor<2x3xi1>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: @argmax(
// CHECK: ft.argmax(
func.func @argmax(%x: tensor<2x3xf32>) {
  %y = ft.argmax(%x, 1) : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// CHECK-LABEL: @cumsum(
// CHECK: ft.cumsum(
func.func @cumsum(%x: tensor<2x3xf32>) {
  %y = ft.cumsum(%x, 1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @max_dim(
// CHECK: ft.max.dim(
func.func @max_dim(%x: tensor<2x3xf32>) {
  %y:2 = ft.max.dim(%x, 1) : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return
}

// CHECK-LABEL: @mean_dim(
// CHECK: ft.mean.dim(
func.func @mean_dim(%x: tensor<2x3xf32>) {
  %y = ft.mean.dim(%x, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @mean(
// CHECK: ft.mean(
func.func @mean(%x: tensor<2x3xf32>) {
  %y = ft.mean(%x) : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @sum_dim_IntList(
// CHECK: ft.sum.dim_IntList(
func.func @sum_dim_IntList(%x: tensor<2x3xf32>) {
  %y = ft.sum.dim_IntList(%x, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @sum(
// CHECK: ft.sum(
func.func @sum(%x: tensor<2x3xf32>) {
  %y = ft.sum(%x) : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @var_correction(
// CHECK: ft.var.correction(
func.func @var_correction(%x: tensor<2x3xf32>) {
  %y = ft.var.correction(%x, [1]) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}
