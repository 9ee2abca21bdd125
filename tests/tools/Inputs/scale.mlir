module attributes {ft.model = "scale"} {
  func.func @forward(%x: tensor<3x2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"}) {
    %y = ft.custom "test::scale"(%x) : (tensor<3x2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %z = ft.custom "test::scale"(%x) : (tensor<3x2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %z : tensor<*x!ft.unknown>
  }
}
