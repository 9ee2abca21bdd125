module attributes {ft.model = "m"} {
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"}, %a: tensor<i64, #ft.meta<cpu>> {ft.kind = "input", ft.name = "a", ft.target = "a"}) -> (tensor<4xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}, tensor<4xf32, #ft.meta<cpu>> {ft.name = "z", ft.role = "output"}) {
    %n = ft.aten "item.default"(%a) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %m = ft.aten "operator.add"(%n, 7) : (i64) -> i64
    %f = ft.aten "torch.sym_float"(%n) : (i64) -> f64
    %y = ft.aten "elu.default"(%x, %f, 1, 1) : (tensor<4xf32, #ft.meta<cpu>>, f64) -> tensor<4xf32, #ft.meta<cpu>>
    %z = ft.aten "fill.Scalar"(%x, %m) : (tensor<4xf32, #ft.meta<cpu>>, i64) -> tensor<4xf32, #ft.meta<cpu>>
    return %y, %z : tensor<4xf32, #ft.meta<cpu>>, tensor<4xf32, #ft.meta<cpu>>
  }
}
