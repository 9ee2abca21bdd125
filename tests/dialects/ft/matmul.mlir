// Matrix products: the example of each op in FtMatmul.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @addmm(
// CHECK: ft.addmm(
func.func @addmm(%c: tensor<4xf32>, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  %y = ft.addmm(%c, %a, %b)
      : (tensor<4xf32>, tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @baddbmm(
// CHECK: ft.baddbmm(
func.func @baddbmm(%c: tensor<8x2x4xf32>, %a: tensor<8x2x3xf32>, %b: tensor<8x3x4xf32>) {
  %y = ft.baddbmm(%c, %a, %b)
      : (tensor<8x2x4xf32>, tensor<8x2x3xf32>, tensor<8x3x4xf32>)
      -> tensor<8x2x4xf32>
  return
}

// CHECK-LABEL: @bmm(
// CHECK: ft.bmm(
func.func @bmm(%a: tensor<8x2x3xf32>, %b: tensor<8x3x4xf32>) {
  %y = ft.bmm(%a, %b)
      : (tensor<8x2x3xf32>, tensor<8x3x4xf32>) -> tensor<8x2x4xf32>
  return
}

// CHECK-LABEL: @dot(
// CHECK: ft.dot(
func.func @dot(%a: tensor<3xf32>, %b: tensor<3xf32>) {
  %y = ft.dot(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @linear(
// CHECK: ft.linear(
func.func @linear(%x: tensor<2x16xf32>, %w: tensor<64x16xf32>, %b: tensor<64xf32>) {
  %y = ft.linear(%x, %w, %b)
      : (tensor<2x16xf32>, tensor<64x16xf32>, tensor<64xf32>)
      -> tensor<2x64xf32>
  return
}

// CHECK-LABEL: @matmul(
// CHECK: ft.matmul(
func.func @matmul(%a: tensor<8x2x3xf32>, %b: tensor<3x4xf32>) {
  %y = ft.matmul(%a, %b)
      : (tensor<8x2x3xf32>, tensor<3x4xf32>) -> tensor<8x2x4xf32>
  return
}

// CHECK-LABEL: @mm(
// CHECK: ft.mm(
func.func @mm(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  %y = ft.mm(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @mv(
// CHECK: ft.mv(
func.func @mv(%a: tensor<2x3xf32>, %x: tensor<3xf32>) {
  %y = ft.mv(%a, %x) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}
