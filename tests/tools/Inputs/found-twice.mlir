// A kernel that finds sizes reads what another found.
module attributes {ft.model = "found_twice"} {
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<?x2xi64> {ft.name = "y", ft.role = "output"}) {
    %a = ft.aten "nonzero.default"(%x) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<?x1xi64>
    %b = ft.aten "nonzero.default"(%a) : (tensor<?x1xi64>) -> tensor<?x2xi64>
    return %b : tensor<?x2xi64>
  }
}
