module attributes {ft.stage = "import"} {
  func.func @forward(%x: tensor<3x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"}, tensor<*x!ft.unknown> {ft.role = "output", ft.name = "z"}) {
    %y:2 = ft.aten "linalg_cholesky_ex.default"(%x) {ft.name = "y"} : (tensor<3x3xf32, #ft.meta<cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    %z:3 = ft.aten "linalg_lu_factor_ex.default"(%x) {ft.name = "z"} : (tensor<3x3xf32, #ft.meta<cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    return %y#0, %z#0 : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
