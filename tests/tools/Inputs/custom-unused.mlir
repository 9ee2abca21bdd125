// Two calls whose results nobody reads; the second has effects.
module attributes {ft.model = "unused"} {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"}) {
    %0:2 = ft.custom "test::min_max"(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    %1 = ft.custom "test::scale.effects"(%x, 2.0) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %y = ft.aten "relu"(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
