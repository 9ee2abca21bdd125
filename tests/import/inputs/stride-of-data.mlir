module attributes {ft.model = "nonzero", ft.stage = "fake"} {
  ft.symbol "u0" {lower = 0 : i64, source = "nonzero", upper = 6 : i64}
  func.func @forward(%arg0: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "a_0", ft.target = "a_0"}) -> (tensor<?x2xi64, #ft.meta<[u0], strides = [1, 0], cpu>> {ft.name = "nonzero", ft.role = "output"}) {
    %nonzero = ft.aten "nonzero.default"(%arg0) {ft.declared = tensor<?x2xi64, #ft.meta<[u0], strides = [1, 0], cpu>>, ft.name = "nonzero"} : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<?x2xi64, #ft.meta<[u0], strides = [1, 0], cpu>>
    return %nonzero : tensor<?x2xi64, #ft.meta<[u0], strides = [1, 0], cpu>>
  }
}

