// Copies, conversions and writes: the example of each op in FtCopy.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @as_strided_scatter(
// CHECK: ft.as_strided_scatter(
func.func @as_strided_scatter(%x: tensor<3xf32>, %s: tensor<2xf32>) {
  %y = ft.as_strided_scatter(%x, %s, [2], [1])
      : (tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @clone(
// CHECK: ft.clone(
func.func @clone(%x: tensor<3xf32>) {
  %y = ft.clone(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @contiguous(
// CHECK: ft.contiguous(
func.func @contiguous(%x: tensor<3xf32>) {
  %y = ft.contiguous(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @copy_(
// CHECK: ft.copy_(
func.func @copy_(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  %r = ft.copy_(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @copy(
// CHECK: ft.copy(
func.func @copy(%x: tensor<3xf32>, %v: tensor<3xf32>) {
  %y = ft.copy(%x, %v) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @diagonal_scatter(
// CHECK: ft.diagonal_scatter(
func.func @diagonal_scatter(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  %y = ft.diagonal_scatter(%x, %s)
      : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @fill__Scalar(
// CHECK: ft.fill_.Scalar(
func.func @fill__Scalar(%x: tensor<3xf32>) {
  %r = ft.fill_.Scalar(%x, 0) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @select_scatter(
// CHECK: ft.select_scatter(
func.func @select_scatter(%x: tensor<2x3xf32>, %s: tensor<3xf32>) {
  %y = ft.select_scatter(%x, %s, 0, 1)
      : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @slice_scatter(
// CHECK: ft.slice_scatter(
func.func @slice_scatter(%x: tensor<2x3xf32>, %s: tensor<2x2xf32>) {
  %y = ft.slice_scatter(%x, %s, 1, 0, 2)
      : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @to_device(
// CHECK: ft.to.device(
func.func @to_device(%x: tensor<3xi64>) {
  %y = ft.to.device(%x, #ft.device<cpu>, float32)
      : (tensor<3xi64>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @to_dtype_layout(
// CHECK: ft.to.dtype_layout(
func.func @to_dtype_layout(%x: tensor<3xi64>) {
  %y = ft.to.dtype_layout(%x, dtype = float32)
      : (tensor<3xi64>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @to_dtype(
// CHECK: ft.to.dtype(
func.func @to_dtype(%x: tensor<3xi64>) {
  %y = ft.to.dtype(%x, float32) : (tensor<3xi64>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @_to_copy(
// CHECK: ft._to_copy(
func.func @_to_copy(%x: tensor<3xi64>) {
  %y = ft._to_copy(%x, dtype = float32) : (tensor<3xi64>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @zero_(
// CHECK: ft.zero_(
func.func @zero_(%x: tensor<3xf32>) {
  %r = ft.zero_(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}
