// RUN: %ft-opt -ft-functionalize -split-input-file %s -verify-diagnostics
// All mutations that are not supported are named at once.

module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %b = ft.aten "exp.default"(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %u = ft.aten "unfold.default"(%b, 0, 2, 1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<1x2xf32, #ft.meta<strides = [1, 1], cpu>>
    %c = ft.aten "exp.default"(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %v = ft.aten "unfold.default"(%c, 0, 1, 1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2x1xf32, #ft.meta<cpu>>
    %e = ft.expand(%v, [2, 3]) : (tensor<2x1xf32, #ft.meta<cpu>>) -> tensor<2x3xf32, #ft.meta<strides = [1, 0], cpu>>
    // expected-error @+1 {{[FT0401] 2 mutations are not supported: aten.mul_.Tensor: a write through the view aten.expand.default, whose elements share memory; aten.set_.default: it has no functional form}}
    %z = ft.aten "mul_.Tensor"(%e, 2.0) : (tensor<2x3xf32, #ft.meta<strides = [1, 0], cpu>>) -> tensor<2x3xf32, #ft.meta<strides = [1, 0], cpu>>
    %s = ft.aten "set_.default"(%b) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<0xf32, #ft.meta<cpu>>
    return %b : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

// A constant of the file is the same in every run.
module {
  // expected-error @+1 {{[FT0401] the constant 'c' is written, which every run is to find as it was}}
  func.func @forward(%c: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "constant", ft.target = "c"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %s = ft.aten "mul_.Tensor"(%c, 2.0) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    return %s : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

// The caller's memory does not grow.
module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<4xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    // expected-error @+1 {{[FT0401] 1 mutation is not supported: aten.resize_.default: the caller's tensor would need more memory}}
    %s = ft.aten "resize_.default"(%x, [4]) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<4xf32, #ft.meta<cpu>>
    return %s : tensor<4xf32, #ft.meta<cpu>>
  }
}
