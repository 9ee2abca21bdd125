// RUN: %ft-opt -ft-lower %s -split-input-file -verify-diagnostics

module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<meta>> {ft.kind = "input", ft.target = "x"}) -> (tensor<2xf32, #ft.meta<meta>> {ft.role = "output"}) {
    return %x : tensor<2xf32, #ft.meta<meta>>
  }
}
// expected-error @-4 {{[FT0502] a value on the meta device has no data to compute with: float32 [2] meta}}

// -----

// expected-error @+1 {{[FT0107] the module has no function @forward}}
module {
}
