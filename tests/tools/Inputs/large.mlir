module attributes {ft.stage = "import"} {
  func.func @forward(%x: tensor<4000000000000000xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (tensor<4000000000000000xf32, #ft.meta<cpu>> {ft.role = "output", ft.name = "y"}) {
    %y = ft.relu(%x) : (tensor<4000000000000000xf32, #ft.meta<cpu>>) -> tensor<4000000000000000xf32, #ft.meta<cpu>>
    return %y : tensor<4000000000000000xf32, #ft.meta<cpu>>
  }
}
