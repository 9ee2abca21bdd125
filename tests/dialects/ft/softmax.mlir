// Softmax and attention: the example of each op in FtSoftmax.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @log_softmax_int(
// CHECK: ft.log_softmax.int(
func.func @log_softmax_int(%x: tensor<2x16xf32>) {
  %y = ft.log_softmax.int(%x, -1) : (tensor<2x16xf32>) -> tensor<2x16xf32>
  return
}

// CHECK-LABEL: @scaled_dot_product_attention(
// CHECK: ft.scaled_dot_product_attention(
func.func @scaled_dot_product_attention(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf32>, %v: tensor<2x4x8x16xf32>) {
  %y = ft.scaled_dot_product_attention(%q, %k, %v, none, 0.0, true)
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
      -> tensor<2x4x8x16xf32>
  return
}

// CHECK-LABEL: @softmax_int(
// CHECK: ft.softmax.int(
func.func @softmax_int(%x: tensor<2x16xf32>) {
  %y = ft.softmax.int(%x, -1) : (tensor<2x16xf32>) -> tensor<2x16xf32>
  return
}

// CHECK-LABEL: @_log_softmax(
// CHECK: ft._log_softmax(
func.func @_log_softmax(%x: tensor<2x16xf32>) {
  %y = ft._log_softmax(%x, -1, false) : (tensor<2x16xf32>) -> tensor<2x16xf32>
  return
}

// CHECK-LABEL: @_softmax(
// CHECK: ft._softmax(
func.func @_softmax(%x: tensor<2x16xf32>) {
  %y = ft._softmax(%x, -1, false) : (tensor<2x16xf32>) -> tensor<2x16xf32>
  return
}
