module {
  ft.symbol "a" {hint = 8 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> tensor<*x!ft.unknown> {
    %y = ft.view(%x, [-1, 2]) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    %z = ft.view(%x, [-1, 4]) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    return %z : tensor<*x!ft.unknown>
  }
}
