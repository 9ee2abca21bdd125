// RUN: %ft-opt -ft-lower-to-linalg %s | FileCheck %s
// Padding never wins a maximum; the loops of a pool follow the physical order
// of its input, and an unread operand gives the window its size. The last
// window of ceil_mode counts only what lies in the padded image.

// CHECK: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK: tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK: tensor.yield %[[LOW]]
// CHECK: tensor.empty() {{.*}} : tensor<3x3xf32>
// CHECK: linalg.generic
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: linalg.index 2
// CHECK: arith.minsi
// CHECK: arith.divf
module attributes {ft.model = "m"} {
  func.func @forward(
      %x: tensor<1x2x7x7xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<1x2x3x3xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %a = ft.max_pool2d(%x, [3, 3], [1, 1], [1, 1]) : (tensor<1x2x7x7xf32, #ft.meta<cpu>>) -> tensor<1x2x7x7xf32, #ft.meta<cpu>>
    %y = ft.avg_pool2d(%a, [2, 2], [3, 3], ceil_mode = true) : (tensor<1x2x7x7xf32, #ft.meta<cpu>>) -> tensor<1x2x3x3xf32, #ft.meta<cpu>>
    return %y : tensor<1x2x3x3xf32, #ft.meta<cpu>>
  }
}
