// One call of the operator OP on an input.
module attributes {ft.model = "call"} {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"}) {
    %y = ft.custom "test::OP"(%x) : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
