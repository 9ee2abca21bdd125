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

// -----

// How often a loop runs must be declared, if it does not tell.
module {
  func.func @forward(%w: tensor<f32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad},
                     %x: tensor<f32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<f32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    // expected-error @+1 {{[FT0801] the derivative of ft.while: a loop that runs as often as the data say can only be derived if the most iterations are declared}}
    %y = ft.while(%x) captured(%w) : (tensor<f32, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>) -> tensor<f32, #ft.meta<cpu>>
    cond (%a: tensor<f32, #ft.meta<cpu>>, %b: tensor<f32, #ft.meta<cpu>>) {
      %go = ft.gt.Scalar(%a, 1) : (tensor<f32, #ft.meta<cpu>>) -> tensor<i1, #ft.meta<cpu>>
      ft.yield %go : tensor<i1, #ft.meta<cpu>>
    } do (%a: tensor<f32, #ft.meta<cpu>>, %b: tensor<f32, #ft.meta<cpu>>) {
      %m = ft.mul(%a, %b) : (tensor<f32, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>) -> tensor<f32, #ft.meta<cpu>>
      ft.yield %m : tensor<f32, #ft.meta<cpu>>
    }
    return %y : tensor<f32, #ft.meta<cpu>>
  }
}
