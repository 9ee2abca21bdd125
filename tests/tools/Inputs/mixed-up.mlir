module attributes {ft.stage = "import"} {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"}) {
    %y = ft.relu(%x) {ft.name = "y"} : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %z = ft._to_copy(%y, device = #ft.device<cuda:0>) {ft.name = "z"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %w = ft.aten "add.Tensor"(%y, %z) {ft.name = "w"} : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %w : tensor<*x!ft.unknown>
  }
}
