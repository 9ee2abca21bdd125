// RUN: %ft-opt -ft-lower-to-linalg %s | FileCheck %s
// A convolution reads a channels-last image and weights in panels of 32 output
// channels; a depthwise one has no sum over channels; one tap of stride 1 is a
// plain matrix product; weights that are no constants are laid out at run time.

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d6)>
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3 floordiv 32, d4, d5, d6, d3 mod 32)>
// CHECK-DAG: #[[DEPTH:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)>
// CHECK-DAG: #[[TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
// CHECK-DAG: #[[MATRIX:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3 floordiv 32, d4, d3 mod 32)>
// CHECK-DAG: #[[LAID:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>

// CHECK: func.func @forward({{.*}} %[[W0:arg5]]: tensor<2x3x3x3x32xf32>
// CHECK-SAME: %[[W1:arg6]]: tensor<3x3x40xf32>
// CHECK-SAME: %[[W2:arg7]]: tensor<1x40x32xf32>
// CHECK: tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 0, 0, 0]
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #[[PANELS]],
// CHECK-SAME: ins(%{{.*}}, %[[W0]] : tensor<1x9x9x3xf32>, tensor<2x3x3x3x32xf32>) outs(%{{.*}} : tensor<1x4x4x40xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[DEPTH]], #[[TAPS]],
// CHECK-SAME: ins(%{{.*}}, %[[W1]]
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[MATRIX]],
// CHECK-SAME: ins(%{{.*}}, %[[W2]]
// CHECK: linalg.generic {{.*}}, #[[LAID]],
module attributes {ft.model = "m"} {
  func.func @forward(
      %w0: tensor<40x3x3x3xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w0", ft.weight = "data/weights/weight_0"},
      %w1: tensor<40x1x3x3xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w1", ft.weight = "data/weights/weight_1"},
      %w2: tensor<8x40x1x1xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w2", ft.weight = "data/weights/weight_2"},
      %w3: tensor<8x8x3x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "w3"},
      %x: tensor<1x3x8x8xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<1x8x4x4xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %a = ft.conv2d(%x, %w0, none, [2, 2], [1, 1]) : (tensor<1x3x8x8xf32, #ft.meta<cpu>>, tensor<40x3x3x3xf32, #ft.meta<cpu>>) -> tensor<1x40x4x4xf32, #ft.meta<cpu>>
    %b = ft.conv2d(%a, %w1, none, [1, 1], [1, 1], groups = 40) : (tensor<1x40x4x4xf32, #ft.meta<cpu>>, tensor<40x1x3x3xf32, #ft.meta<cpu>>) -> tensor<1x40x4x4xf32, #ft.meta<cpu>>
    %c = ft.conv2d(%b, %w2, none) : (tensor<1x40x4x4xf32, #ft.meta<cpu>>, tensor<8x40x1x1xf32, #ft.meta<cpu>>) -> tensor<1x8x4x4xf32, #ft.meta<cpu>>
    %y = ft.conv2d(%c, %w3, none, [1, 1], [1, 1]) : (tensor<1x8x4x4xf32, #ft.meta<cpu>>, tensor<8x8x3x3xf32, #ft.meta<cpu>>) -> tensor<1x8x4x4xf32, #ft.meta<cpu>>
    return %y : tensor<1x8x4x4xf32, #ft.meta<cpu>>
  }
}
