module attributes {ft.model = "sizes", ft.stage = "import"} {
  ft.symbol "s0" {hint = 4 : i64, lower = 1 : i64, source = "x:0", title = "batch", upper = 64 : i64}
  ft.symbol "s1" {hint = 4 : i64, source = "y:0"}
  ft.symbol "s2" {hint = 3 : i64, source = "z:0", title = "seq"}
  func.func @forward(
      %x: tensor<?x8xf32, #ft.meta<[s0], cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"},
      %y: tensor<?x8xf32, #ft.meta<[s1], cpu>> {ft.kind = "input", ft.name = "y", ft.target = "y"},
      %z: tensor<?xf32, #ft.meta<["2*s2"], cpu>> {ft.kind = "input", ft.name = "z", ft.target = "z"})
      -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "sum"}, tensor<*x!ft.unknown> {ft.role = "output", ft.name = "rows"}, tensor<*x!ft.unknown> {ft.role = "output", ft.name = "pairs"}) {
    %sum = ft.add(%x, %y) {ft.name = "sum"} : (tensor<?x8xf32, #ft.meta<[s0], cpu>>, tensor<?x8xf32, #ft.meta<[s1], cpu>>) -> tensor<*x!ft.unknown>
    %rows = ft.view(%sum, [-1, 32]) {ft.name = "rows"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %pairs = ft.view(%z, [-1, 2]) {ft.name = "pairs"} : (tensor<?xf32, #ft.meta<["2*s2"], cpu>>) -> tensor<*x!ft.unknown>
    return %sum, %rows, %pairs : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
