// tensor.cast takes any two strides for the same: no way between annotations.
//
// RUN: %ft-opt %s --ft-fake-propagate -verify-diagnostics
func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>> {
  // expected-error @+1 {{[FT0107] tensor.cast between annotated types: 'tensor<2x3xf32, #ft.meta<cpu>>' to 'tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>>'}}
  %y = tensor.cast %x : tensor<2x3xf32, #ft.meta<cpu>> to tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>>
  return %y : tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>>
}
