// Stage fake, edited by hand: two annotations have the right sizes and wrong
// strides. %t is a view of %x, %r is a tensor of its own.
module attributes {ft.model = "wrong", ft.stage = "fake"} {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<3x2xf32, #ft.meta<cpu>> {ft.name = "e", ft.role = "output"}, tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>> {ft.name = "r", ft.role = "output"}) {
    %t = ft.aten "transpose.int"(%x, 0, 1) {ft.name = "t"} : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<3x2xf32, #ft.meta<cpu>>
    %e = ft.aten "exp.default"(%t) {ft.name = "e"} : (tensor<3x2xf32, #ft.meta<cpu>>) -> tensor<3x2xf32, #ft.meta<cpu>>
    %s = ft.aten "select.int"(%x, 0, 1) {ft.name = "s"} : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<3xf32, #ft.meta<offset = 4, cpu>>
    %r = ft.aten "relu.default"(%x) {ft.name = "r"} : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>>
    return %e, %r : tensor<3x2xf32, #ft.meta<cpu>>, tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>>
  }
}
