// add_ writes %a and so its view %v; %a is 2 x 3, behind t_ it is 3 x 2.
module attributes {ft.model = "mutated"} {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.name = "c", ft.role = "output"}) {
    %a = ft.aten "clone.default"(%x) {ft.name = "a"} : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %v = ft.aten "select.int"(%a, 0, 1) {ft.name = "v"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %b = ft.aten "add_.Tensor"(%a, %a) {ft.name = "b"} : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.aten "t_.default"(%a) {ft.name = "t"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %w = ft.aten "select.int"(%a, 0, 2) {ft.name = "w"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %e = ft.aten "exp.default"(%w) {ft.name = "e"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %c = ft.aten "relu.default"(%a) {ft.name = "c"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %c : tensor<*x!ft.unknown>
  }
}
