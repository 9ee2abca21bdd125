// A power of a size, in a formula.
module attributes {ft.model = "told", ft.stage = "import"} {
  ft.symbol "s0" {lower = 0 : i64, upper = 4096 : i64, source = "x:0"}
  func.func @forward(
      %x: tensor<?xi64, #ft.meta<[s0], cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.name = "y", ft.role = "output"}) {
    %n = ft.aten "sym_size.int"(%x, 0) : (tensor<?xi64, #ft.meta<[s0], cpu>>) -> i64
    %p = ft.aten "operator.mul"(%n, %n) : (i64, i64) -> i64
    %q = ft.aten "operator.mul"(%p, %p) : (i64, i64) -> i64
    %r = ft.aten "operator.mul"(%q, %q) : (i64, i64) -> i64
    %y = ft.add.Scalar(%x, %r) : (tensor<?xi64, #ft.meta<[s0], cpu>>, i64) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
