// RUN: %ft-opt -split-input-file -ft-lower-to-linalg %s | FileCheck %s

// 16-bit floats are computed in float32 and rounded once; the factor is the
// number that they hold.
// CHECK: extf %{{.*}} : bf16 to f32
// CHECK: extf %{{.*}} : bf16 to f32
// CHECK: %[[N:.*]] = arith.constant 2.0{{.*}} : bf16
// CHECK: %[[TWO:.*]] = arith.extf %[[N]] : bf16 to f32
// CHECK: %[[M:.*]] = arith.mulf %{{.*}}, %[[TWO]]
// CHECK: %[[A:.*]] = arith.addf %{{.*}}, %[[M]]
// CHECK: truncf %[[A]] : f32 to bf16
func.func @forward(%x: tensor<2x3xbf16, #ft.meta<cpu>>, %y: tensor<3xbf16, #ft.meta<cpu>>)
    -> (tensor<2x3xbf16, #ft.meta<cpu>> {ft.role = "output"}) {
  %r = ft.aten "add.Tensor"(%x, %y, alpha = 2) : (tensor<2x3xbf16, #ft.meta<cpu>>, tensor<3xbf16, #ft.meta<cpu>>) -> tensor<2x3xbf16, #ft.meta<cpu>>
  return %r : tensor<2x3xbf16, #ft.meta<cpu>>
}

// -----

// A float number raises an integer tensor to float32; bools are bytes.
// CHECK: sitofp %{{.*}} : i32 to f32
// CHECK: %[[C:.*]] = arith.cmpf olt
// CHECK: extui %[[C]] : i1 to i8
func.func @forward(%x: tensor<3xi32, #ft.meta<cpu>>) -> (tensor<3xi1, #ft.meta<cpu>> {ft.role = "output"}) {
  %r = ft.aten "lt.Scalar"(%x, 2.5) : (tensor<3xi32, #ft.meta<cpu>>) -> tensor<3xi1, #ft.meta<cpu>>
  return %r : tensor<3xi1, #ft.meta<cpu>>
}

// -----

// Integer division never traps: a divisor of 0 or -1 is replaced.
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
// CHECK: divsi %{{.*}}, %[[SAFE]]
func.func @forward(%x: tensor<3xi64, #ft.meta<cpu>>, %y: tensor<3xi64, #ft.meta<cpu>>)
    -> (tensor<3xi64, #ft.meta<cpu>> {ft.role = "output"}) {
  %r = ft.aten "div.Tensor_mode"(%x, %y, rounding_mode = "trunc") : (tensor<3xi64, #ft.meta<cpu>>, tensor<3xi64, #ft.meta<cpu>>) -> tensor<3xi64, #ft.meta<cpu>>
  return %r : tensor<3xi64, #ft.meta<cpu>>
}
