// RUN: %ft-opt -ft-lower-to-linalg %s | FileCheck %s
// A permutation only changes how indices are read; the pointwise op keeps the
// physical order, and the flattening of two dims that are still neighbours is
// a reinterpretation. The one transposition is at the boundary.

// CHECK-LABEL: func.func @forward(%{{.*}}: tensor<2x3x4x5xf32>
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<2x3x4x5xf32>) outs({{.*}} : tensor<2x3x4x5xf32>)
// CHECK: %[[F:.*]] = tensor.collapse_shape {{.*}} : tensor<2x3x4x5xf32> into tensor<2x3x20xf32>
// CHECK: linalg.generic {{.*}} ins(%[[F]] : tensor<2x3x20xf32>) outs({{.*}} : tensor<2x20x3xf32>)
// CHECK-NOT: linalg.generic
module {
  func.func @forward(%x: tensor<2x3x4x5xf32, #ft.meta<cpu>>) -> (tensor<2x20x3xf32, #ft.meta<strides = [60, 1, 20], cpu>> {ft.role = "output"}) {
    %p = ft.aten "permute.default"(%x, [0, 2, 3, 1]) : (tensor<2x3x4x5xf32, #ft.meta<cpu>>) -> tensor<2x4x5x3xf32, #ft.meta<strides = [60, 5, 1, 20], cpu>>
    %r = ft.aten "relu.default"(%p) : (tensor<2x4x5x3xf32, #ft.meta<strides = [60, 5, 1, 20], cpu>>) -> tensor<2x4x5x3xf32, #ft.meta<strides = [60, 5, 1, 20], cpu>>
    %f = ft.aten "flatten.using_ints"(%r, 1, 2) : (tensor<2x4x5x3xf32, #ft.meta<strides = [60, 5, 1, 20], cpu>>) -> tensor<2x20x3xf32, #ft.meta<strides = [60, 1, 20], cpu>>
    return %f : tensor<2x20x3xf32, #ft.meta<strides = [60, 1, 20], cpu>>
  }
}
