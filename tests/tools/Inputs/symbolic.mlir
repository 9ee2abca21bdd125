// Two sizes that data decide, joined. The symbols are the fake pass's own.
func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>> {ft.name = "x", ft.kind = "input"}, %y: tensor<6xf32, #ft.meta<cpu>> {ft.name = "y", ft.kind = "input"}) -> (tensor<*x!ft.unknown> {ft.name = "z", ft.role = "output"}) {
  %a = ft.aten "nonzero.default"(%x) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  %b = ft.aten "nonzero.default"(%y) : (tensor<6xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  %z = ft.cat([%a, %b]) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
  return %z : tensor<*x!ft.unknown>
}
