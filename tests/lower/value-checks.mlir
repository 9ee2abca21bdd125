// RUN: ft-opt -ft-lower %s | FileCheck %s
// Parameters of distributions that no distribution has fail the call.

// CHECK-DAG: "aten.bernoulli.default: a probability is not in [0, 1]{{.*}}\00"
// CHECK-DAG: "aten.normal.float_Tensor: a standard deviation is negative{{.*}}\00"
// CHECK: func.func @ft_gen_forward
// CHECK: llvm.call @ft_rt_fail
module attributes {ft.model = "m"} {
  func.func @forward(%p: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "p", ft.target = "p"}) -> (tensor<4xf32, #ft.meta<cpu>> {ft.name = "b", ft.role = "output"}, tensor<4xf32, #ft.meta<cpu>> {ft.name = "n", ft.role = "output"}) {
    %b = ft.aten "bernoulli.default"(%p) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<4xf32, #ft.meta<cpu>>
    %n = ft.aten "normal.float_Tensor"(0.0, %p) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<4xf32, #ft.meta<cpu>>
    return %b, %n : tensor<4xf32, #ft.meta<cpu>>, tensor<4xf32, #ft.meta<cpu>>
  }
}
