!t = tensor<4x4xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%w: !t {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad}, %x: !t {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (!t {ft.name = "y", ft.role = "output"}) {
    %0 = ft.mm(%x, %w) {ft.name = "a\"b\\"} : (!t, !t) -> !t
    %2 = ft.sin(%0) : (!t) -> !t
    return %2 : !t
  }
}
