// RUN: %ft-opt -ft-lower %s | FileCheck %s
// Short lines are sorted by counting, for each element, those before it. What
// is counted is read from memory: computed where it is read, an element could
// be rounded in two ways and come before itself, and a place would stay empty.

// CHECK: func.func private @k0_sum
// CHECK: addf
// CHECK: return
// CHECK: func.func private @k1_sort
// CHECK-NOT: addf
// CHECK: cmpf olt
// CHECK-NOT: addf
// CHECK: return
// CHECK-LABEL: func.func @ft_gen_forward
module attributes {ft.model = "m"} {
  func.func @forward(
      %x: tensor<3x4x7xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<3x4xf32, #ft.meta<cpu>> {ft.name = "v", ft.role = "output"}) {
    %y = ft.sum.dim_IntList(%x, [2]) : (tensor<3x4x7xf32, #ft.meta<cpu>>) -> tensor<3x4xf32, #ft.meta<cpu>>
    %v:2 = ft.aten "sort.default"(%y, 0) : (tensor<3x4xf32, #ft.meta<cpu>>) -> (tensor<3x4xf32, #ft.meta<cpu>>, tensor<3x4xi64, #ft.meta<cpu>>)
    return %v#0 : tensor<3x4xf32, #ft.meta<cpu>>
  }
}
