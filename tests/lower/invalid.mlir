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

// -----

module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}, %n: i64) -> (tensor<1xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    // expected-error @+1 {{[FT0311] a number that the caller passes cannot be an argument yet}}
    %y = ft.aten "narrow.default"(%x, 0, %n, 1) : (tensor<2xf32, #ft.meta<cpu>>, i64) -> tensor<1xf32, #ft.meta<cpu>>
    return %y : tensor<1xf32, #ft.meta<cpu>>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0501] control flow between blocks cannot be compiled: @forward must be one block}}
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    cf.br ^next
  ^next:
    return %x : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0107] argument 0 of @forward: ft.kind must be "input", "tangent", "parameter", "buffer" or "constant"}}
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>>) -> (tensor<2xf32, #ft.meta<cpu>>) {
    return %x : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0107] argument 0 of @forward: ft.kind must be}}
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "packed", ft.target = "x"}) -> (tensor<2xf32, #ft.meta<cpu>>) {
    return %x : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0107] argument 0 of @forward: ft.target must be its name in the model}}
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = 1}) -> (tensor<2xf32, #ft.meta<cpu>>) {
    return %x : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0107] result 0 of @forward: ft.role must be}}
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "zz"}) {
    return %x : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0107] result 0 of @forward: ft.target names no argument to write}}
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "input_mutation", ft.target = "y"}) {
    return %x : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0107] result 0 of @forward: does not fit 'y', which it writes}}
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}, %y: tensor<3xf32, #ft.meta<cpu>> {ft.kind = "buffer", ft.target = "y"}) -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "buffer_mutation", ft.target = "y"}) {
    return %x : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0501] a compiled model takes tensors of at most 64 dims, this one has 65}}
  func.func @forward(%x: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    return %x : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32, #ft.meta<cpu>>
  }
}
