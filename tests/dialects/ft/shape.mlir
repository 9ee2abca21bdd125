// Tensors put together and made: the example of each op in FtShape.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @arange(
// CHECK: ft.arange(
func.func @arange() {
  %y = ft.arange(4) : () -> tensor<4xi64>
  return
}

// CHECK-LABEL: @arange_start_step(
// CHECK: ft.arange.start_step(
func.func @arange_start_step() {
  %y = ft.arange.start_step(0, 8, 2) : () -> tensor<4xi64>
  return
}

// CHECK-LABEL: @cat(
// CHECK: ft.cat(
func.func @cat(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>) {
  %y = ft.cat([%a, %b], 1)
      : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @constant_pad_nd(
// CHECK: ft.constant_pad_nd(
func.func @constant_pad_nd(%x: tensor<2x3xf32>) {
  %y = ft.constant_pad_nd(%x, [1, 1]) : (tensor<2x3xf32>) -> tensor<2x5xf32>
  return
}

// CHECK-LABEL: @dropout_(
// CHECK: ft.dropout_(
func.func @dropout_(%x: tensor<3xf32>) {
  %r = ft.dropout_(%x, 0.5, true) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @dropout(
// CHECK: ft.dropout(
func.func @dropout(%x: tensor<3xf32>) {
  %y = ft.dropout(%x, 0.5, true) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @full_like(
// CHECK: ft.full_like(
func.func @full_like(%x: tensor<3xf32>) {
  %y = ft.full_like(%x, 1.0) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @full(
// CHECK: ft.full(
func.func @full() {
  %y = ft.full([2, 3], 1.0) : () -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @new_ones(
// CHECK: ft.new_ones(
func.func @new_ones(%x: tensor<3xf32>) {
  %y = ft.new_ones(%x, [2]) : (tensor<3xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @new_zeros(
// CHECK: ft.new_zeros(
func.func @new_zeros(%x: tensor<3xf32>) {
  %y = ft.new_zeros(%x, [2]) : (tensor<3xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @ones(
// CHECK: ft.ones(
func.func @ones() {
  %y = ft.ones([2, 3]) : () -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @repeat(
// CHECK: ft.repeat(
func.func @repeat(%x: tensor<3xf32>) {
  %y = ft.repeat(%x, [2, 1]) : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @scalar_tensor(
// CHECK: ft.scalar_tensor(
func.func @scalar_tensor() {
  %y = ft.scalar_tensor(1.0) : () -> tensor<f32>
  return
}

// CHECK-LABEL: @stack(
// CHECK: ft.stack(
func.func @stack(%a: tensor<3xf32>, %b: tensor<3xf32>) {
  %y = ft.stack([%a, %b]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: @zeros_like(
// CHECK: ft.zeros_like(
func.func @zeros_like(%x: tensor<3xf32>) {
  %y = ft.zeros_like(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @zeros(
// CHECK: ft.zeros(
func.func @zeros() {
  %y = ft.zeros([2, 3]) : () -> tensor<2x3xf32>
  return
}
