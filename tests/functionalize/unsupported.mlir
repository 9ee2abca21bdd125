// RUN: %ft-opt -ft-functionalize %s -verify-diagnostics
// All mutations that are not supported are named at once.

module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %b = ft.aten "exp.default"(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    %u = ft.aten "unfold.default"(%b, 0, 1, 1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2x1xf32, #ft.meta<cpu>>
    // expected-error @+1 {{[FT0401] 2 mutations are not supported: aten.zero_.default: a write through the view aten.unfold.default; aten.set_.default: it has no functional form}}
    %z = ft.aten "zero_.default"(%u) : (tensor<2x1xf32, #ft.meta<cpu>>) -> tensor<2x1xf32, #ft.meta<cpu>>
    %s = ft.aten "set_.default"(%b) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<0xf32, #ft.meta<cpu>>
    return %b : tensor<2xf32, #ft.meta<cpu>>
  }
}
