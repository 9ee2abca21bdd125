module attributes {ft.model = "stacked", ft.stage = "import"} {
  ft.symbol "s0" {hint = 3 : i64, lower = 0 : i64, source = "x:0", title = "length"}
  func.func @forward(%x: tensor<?x4xf32, #ft.meta<[s0], cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.name = "sum", ft.role = "output"}, tensor<*x!ft.unknown> {ft.name = "rows", ft.role = "output"}) {
    %h = ft.zeros([4]) : () -> tensor<*x!ft.unknown>
    %c, %y = ft.scan init(%h) over(%x) {reverse} : (tensor<*x!ft.unknown>, tensor<?x4xf32, #ft.meta<[s0], cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    do (%a: tensor<*x!ft.unknown>, %b: tensor<*x!ft.unknown>) {
      %s = ft.add(%a, %b) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      %p = ft.gt.Scalar(%b, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      %n = ft.aten "masked_select.default"(%b, %p) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      %m = ft.mul(%n, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %s, %m : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
    }
    %r = ft.add(%y, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %c, %r : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
