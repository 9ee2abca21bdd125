module attributes {ft.model = "m"} {
  func.func @forward(%x: tensor<1xi64, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (f64 {ft.role = "output", ft.name = "i"}) {
    %i = ft.aten "item"(%x) : (tensor<1xi64, #ft.meta<cpu>>) -> f64
    return %i : f64
  }
}
