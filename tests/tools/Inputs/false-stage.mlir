module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"}) {
    %y = ft.relu(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
