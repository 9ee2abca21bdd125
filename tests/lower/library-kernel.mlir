// RUN: %ft-opt -ft-lower %s | FileCheck %s
// A factorisation is a call of a C kernel that is linked from the compiler's
// own archive: no file is named. Its scratch memory is part of the arena, its
// results go where the caller wants them.

// CHECK: ft.plan
// CHECK-NOT: kernels =
// CHECK-LABEL: func.func @ft_gen_forward
// CHECK: llvm.mlir.addressof @ft_k_solve
// CHECK: llvm.call @ft_rt_call_kernel
// CHECK: cf.cond_br
module attributes {ft.model = "m"} {
  func.func @forward(
      %a: tensor<3x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "a"},
      %b: tensor<3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "b"})
      -> (tensor<3xf32, #ft.meta<cpu>> {ft.name = "x", ft.role = "output"}) {
    %x = ft.aten "linalg_solve.default"(%a, %b) : (tensor<3x3xf32, #ft.meta<cpu>>, tensor<3xf32, #ft.meta<cpu>>) -> tensor<3xf32, #ft.meta<cpu>>
    return %x : tensor<3xf32, #ft.meta<cpu>>
  }
}
