// RUN: %ft-opt -ft-lower %s | FileCheck %s
// Before a gather the extremes of its indices are compared with the size: a bad
// index ends the call with a status, nothing is read.

// CHECK-LABEL: func.func @ft_gen_forward
// CHECK: llvm.load {{.*}} -> i64
// CHECK: cf.cond_br %{{.*}}, ^[[REPORT:bb[0-9]+]], ^[[NEXT:bb[0-9]+]]
// CHECK: ^[[REPORT]]:
// CHECK: llvm.call @ft_rt_fail_index
// CHECK: ^[[NEXT]]:
// CHECK: call @k{{[0-9]+}}_embedding
module attributes {ft.model = "m"} {
  func.func @forward(
      %w: tensor<10x4xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.weight = "data/weights/weight_0"},
      %i: tensor<3xi64, #ft.meta<cpu>> {ft.kind = "input", ft.target = "i"})
      -> (tensor<3x4xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.embedding(%w, %i) : (tensor<10x4xf32, #ft.meta<cpu>>, tensor<3xi64, #ft.meta<cpu>>) -> tensor<3x4xf32, #ft.meta<cpu>>
    return %y : tensor<3x4xf32, #ft.meta<cpu>>
  }
}
