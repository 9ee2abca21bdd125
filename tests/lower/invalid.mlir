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

// -----

// How many taps a position has depends on the sizes.
module {
  ft.symbol "h" {lower = 2 : i64, upper = 64 : i64, hint = 8 : i64, source = "x:2", title = "h"}
  func.func @forward(
      %x: tensor<1x1x?x8xf32, #ft.meta<[h], cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<1x1x4x4xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    // expected-error @+1 {{[FT0501] no CPU code for _upsample_bilinear2d_aa.default (1 call): antialiasing of images whose size is only known at run time}}
    %y = ft.aten "_upsample_bilinear2d_aa.default"(%x, [4, 4], false, none, none) : (tensor<1x1x?x8xf32, #ft.meta<[h], cpu>>) -> tensor<1x1x4x4xf32, #ft.meta<cpu>>
    return %y : tensor<1x1x4x4xf32, #ft.meta<cpu>>
  }
}

// -----

// A rule that takes sizes of the run need not take other integers of the run.
module {
  ft.symbol "n" {lower = 2 : i64, upper = 64 : i64, hint = 8 : i64, source = "x:0", title = "n"}
  func.func @forward(
      %x: tensor<?x?xf32, #ft.meta<[n, n], cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<?x?xf32, #ft.meta<[n, n], cpu>> {ft.name = "y", ft.role = "output"}) {
    %k = ft.aten "sym_size.int"(%x, 0) {ft.value = "n"} : (tensor<?x?xf32, #ft.meta<[n, n], cpu>>) -> i64
    // expected-error @+1 {{[FT0501] no CPU code for tril.default (1 call): argument 'diagonal' is a size that is only known at run time}}
    %y = ft.aten "tril.default"(%x, %k) : (tensor<?x?xf32, #ft.meta<[n, n], cpu>>, i64) -> tensor<?x?xf32, #ft.meta<[n, n], cpu>>
    return %y : tensor<?x?xf32, #ft.meta<[n, n], cpu>>
  }
}
