module attributes {ft.model = "m"} {
  ft.symbol "s0" {hint = 4 : i64, lower = 2 : i64, upper = 64 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?x4xf32, #ft.meta<[s0], strides = [4, 1], cpu>> {ft.kind = "input", ft.name = "x"}) -> (tensor<*x!ft.unknown> {ft.name = "y", ft.role = "output"}) {
    %y = ft.aten "relu.default"(%x) : (tensor<?x4xf32, #ft.meta<[s0], strides = [4, 1], cpu>>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
