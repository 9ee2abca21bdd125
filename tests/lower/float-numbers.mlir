// RUN: ft-opt -ft-lower %s | FileCheck %s
// Arithmetic of numbers that data decide, in float64 where one of them is.

// CHECK: func.func private @k0
// CHECK: arith.subf {{.*}} : f64
// CHECK: arith.mulf {{.*}} : f64
module attributes {ft.model = "m"} {
  func.func @forward(%x: tensor<f32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}, %i: tensor<i64, #ft.meta<cpu>> {ft.kind = "input", ft.name = "i", ft.target = "i"}) -> (f64 {ft.name = "y", ft.role = "output"}) {
    %a = ft.aten "item"(%x) : (tensor<f32, #ft.meta<cpu>>) -> f64
    %b = ft.aten "item"(%i) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %c = ft.aten "operator.sub"(%a, 1.5) : (f64) -> f64
    %y = ft.aten "operator.mul"(%b, %c) : (i64, f64) -> f64
    return %y : f64
  }
}
