// RUN: %ft-opt -ft-autograd -split-input-file -verify-diagnostics %s
// What has no gradient is said at once.

module {
  // expected-error @+1 {{[FT0802] no output of the model depends on an argument that requires a gradient}}
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %0 = ft.relu(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    return %0 : tensor<2xf32, #ft.meta<cpu>>
  }
}
