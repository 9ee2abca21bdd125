module attributes {ft.model = "cache", ft.stage = "import"} {
  ft.symbol "s0" {hint = 8 : i64, lower = 0 : i64, source = "x:0", title = "length"}
  func.func @forward(%x: tensor<?x2xf32, #ft.meta<[s0], cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}, %c: tensor<8x2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "cache", ft.target = "cache"}) -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "out"}) {
    %n = ft.aten "sym_size.int"(%x, 0) : (tensor<?x2xf32, #ft.meta<[s0], cpu>>) -> i64
    %all = ft.clone(%c) : (tensor<8x2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %part = ft.slice(%all, 0, 0, %n) : (tensor<*x!ft.unknown>, i64) -> tensor<*x!ft.unknown>
    %w = ft.copy_(%part, %x) : (tensor<*x!ft.unknown>, tensor<?x2xf32, #ft.meta<[s0], cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.sum.dim_IntList(%all, [1]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}
