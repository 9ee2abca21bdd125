module attributes {ft.stage = "import"} {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<meta>> {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (tensor<2x3xf32, #ft.meta<meta>> {ft.role = "output", ft.name = "y"}) {
    %y = ft.relu(%x) : (tensor<2x3xf32, #ft.meta<meta>>) -> tensor<2x3xf32, #ft.meta<meta>>
    return %y : tensor<2x3xf32, #ft.meta<meta>>
  }
}
