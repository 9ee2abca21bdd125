// f16 and bf16 in both directions, from f32 and f64.
func.func @forward(%f: tensor<37xf16, #ft.meta<cpu>> {ft.kind = "input", ft.name = "f"}, %b: tensor<37xbf16, #ft.meta<cpu>> {ft.kind = "input", ft.name = "b"}, %d: tensor<37xf64, #ft.meta<cpu>> {ft.kind = "input", ft.name = "d"}) -> (tensor<37xf16, #ft.meta<cpu>> {ft.role = "output"}, tensor<37xbf16, #ft.meta<cpu>> {ft.role = "output"}, tensor<37xf64, #ft.meta<cpu>> {ft.role = "output"}) {
  %0 = ft.aten "mul.Tensor"(%f, %b) : (tensor<37xf16, #ft.meta<cpu>>, tensor<37xbf16, #ft.meta<cpu>>) -> tensor<37xf32, #ft.meta<cpu>>
  %1 = ft.aten "type_as"(%0, %f) : (tensor<37xf32, #ft.meta<cpu>>, tensor<37xf16, #ft.meta<cpu>>) -> tensor<37xf16, #ft.meta<cpu>>
  %2 = ft.aten "type_as"(%d, %f) : (tensor<37xf64, #ft.meta<cpu>>, tensor<37xf16, #ft.meta<cpu>>) -> tensor<37xf16, #ft.meta<cpu>>
  %3 = ft.aten "add.Tensor"(%1, %2) : (tensor<37xf16, #ft.meta<cpu>>, tensor<37xf16, #ft.meta<cpu>>) -> tensor<37xf16, #ft.meta<cpu>>
  %4 = ft.aten "type_as"(%d, %b) : (tensor<37xf64, #ft.meta<cpu>>, tensor<37xbf16, #ft.meta<cpu>>) -> tensor<37xbf16, #ft.meta<cpu>>
  %5 = ft.aten "mul.Tensor"(%4, %b) : (tensor<37xbf16, #ft.meta<cpu>>, tensor<37xbf16, #ft.meta<cpu>>) -> tensor<37xbf16, #ft.meta<cpu>>
  %6 = ft.aten "type_as"(%f, %d) : (tensor<37xf16, #ft.meta<cpu>>, tensor<37xf64, #ft.meta<cpu>>) -> tensor<37xf64, #ft.meta<cpu>>
  return %3, %5, %6 : tensor<37xf16, #ft.meta<cpu>>, tensor<37xbf16, #ft.meta<cpu>>, tensor<37xf64, #ft.meta<cpu>>
}
