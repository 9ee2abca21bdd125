module attributes {ft.model = "found", ft.stage = "import"} {
  func.func @forward(%p: tensor<i1, #ft.meta<cpu>> {ft.kind = "input", ft.name = "p", ft.target = "p"}, %x: tensor<3x4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "out"}) {
    %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<3x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    then (%a: tensor<*x!ft.unknown>) {
      %n = ft.aten "nonzero.default"(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %n : tensor<*x!ft.unknown>
    } else (%a: tensor<*x!ft.unknown>) {
      %b = ft.relu(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      %n = ft.aten "nonzero.default"(%b) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %n : tensor<*x!ft.unknown>
    }
    return %y : tensor<*x!ft.unknown>
  }
}
