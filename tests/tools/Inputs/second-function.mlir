module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.role = "output", ft.name = "y"}) {
    return %x : tensor<2xf32, #ft.meta<cpu>>
  }
  func.func @other(%x: tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>> {
    %y = ft.relu(%x) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    return %y : tensor<2xf32, #ft.meta<cpu>>
  }
}
