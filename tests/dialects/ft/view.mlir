// Views of a tensor's storage: the example of each op in FtView.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @alias(
// CHECK: ft.alias(
func.func @alias(%x: tensor<3xf32>) {
  %y = ft.alias(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @as_strided(
// CHECK: ft.as_strided(
func.func @as_strided(%x: tensor<3xf32>) {
  %y = ft.as_strided(%x, [2, 2], [1, 1]) : (tensor<3xf32>) -> tensor<2x2xf32>
  return
}

// CHECK-LABEL: @chunk(
// CHECK: ft.chunk(
func.func @chunk(%x: tensor<2x4xf32>) {
  %y:2 = ft.chunk(%x, 2, 1)
      : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  return
}

// CHECK-LABEL: @detach(
// CHECK: ft.detach(
func.func @detach(%x: tensor<3xf32>) {
  %y = ft.detach(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @diagonal(
// CHECK: ft.diagonal(
func.func @diagonal(%x: tensor<2x3xf32>) {
  %y = ft.diagonal(%x) : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: @expand(
// CHECK: ft.expand(
func.func @expand(%x: tensor<1x3xf32>) {
  %y = ft.expand(%x, [4, -1]) : (tensor<1x3xf32>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: @flatten_using_ints(
// CHECK: ft.flatten.using_ints(
func.func @flatten_using_ints(%x: tensor<2x3x4xf32>) {
  %y = ft.flatten.using_ints(%x, 1) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  return
}

// CHECK-LABEL: @permute(
// CHECK: ft.permute(
func.func @permute(%x: tensor<2x3xf32>) {
  %y = ft.permute(%x, [1, 0]) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: @reshape(
// CHECK: ft.reshape(
func.func @reshape(%x: tensor<2x3x4xf32>) {
  %y = ft.reshape(%x, [2, -1]) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  return
}

// CHECK-LABEL: @select_int(
// CHECK: ft.select.int(
func.func @select_int(%x: tensor<2x3xf32>) {
  %y = ft.select.int(%x, 0, 1) : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @slice(
// CHECK: ft.slice(
func.func @slice(%x: tensor<2x3xf32>) {
  %y = ft.slice(%x, 1, 0, 2) : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// CHECK-LABEL: @split_Tensor(
// CHECK: ft.split.Tensor(
func.func @split_Tensor(%x: tensor<2x3xf32>) {
  %y:2 = ft.split.Tensor(%x, 2, 1)
      : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x1xf32>)
  return
}

// CHECK-LABEL: @split_with_sizes(
// CHECK: ft.split_with_sizes(
func.func @split_with_sizes(%x: tensor<2x3xf32>) {
  %y:2 = ft.split_with_sizes(%x, [1, 2], 1)
      : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  return
}

// CHECK-LABEL: @squeeze_dim(
// CHECK: ft.squeeze.dim(
func.func @squeeze_dim(%x: tensor<1x3xf32>) {
  %y = ft.squeeze.dim(%x, 0) : (tensor<1x3xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @squeeze_dims(
// CHECK: ft.squeeze.dims(
func.func @squeeze_dims(%x: tensor<1x3x1xf32>) {
  %y = ft.squeeze.dims(%x, [0, 2]) : (tensor<1x3x1xf32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: @t(
// CHECK: ft.t(
func.func @t(%x: tensor<2x3xf32>) {
  %y = ft.t(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: @transpose_int(
// CHECK: ft.transpose.int(
func.func @transpose_int(%x: tensor<2x3xf32>) {
  %y = ft.transpose.int(%x, 0, 1) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: @unbind_int(
// CHECK: ft.unbind.int(
func.func @unbind_int(%x: tensor<2x3xf32>) {
  %y:2 = ft.unbind.int(%x) : (tensor<2x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return
}

// CHECK-LABEL: @_unsafe_view(
// CHECK: ft._unsafe_view(
func.func @_unsafe_view(%x: tensor<2x3x4xf32>) {
  %y = ft._unsafe_view(%x, [6, 4]) : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return
}

// CHECK-LABEL: @unflatten_int(
// CHECK: ft.unflatten.int(
func.func @unflatten_int(%x: tensor<2x12xf32>) {
  %y = ft.unflatten.int(%x, 1, [3, 4]) : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: @unsqueeze(
// CHECK: ft.unsqueeze(
func.func @unsqueeze(%x: tensor<3xf32>) {
  %y = ft.unsqueeze(%x, 0) : (tensor<3xf32>) -> tensor<1x3xf32>
  return
}

// CHECK-LABEL: @view(
// CHECK: ft.view(
func.func @view(%x: tensor<2x3x4xf32>) {
  %y = ft.view(%x, [2, -1]) : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  return
}
