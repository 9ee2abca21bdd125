// Layouts of inputs as custom kernels see them, and an input that is written.
module attributes {ft.model = "layouts"} {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"},
                     %none: tensor<0x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "none", ft.target = "none"},
                     %image: tensor<1x2x2x2xf32, #ft.meta<strides = [8, 1, 4, 2], cpu>> {ft.kind = "input", ft.name = "image", ft.target = "image"})
      -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "written"},
          tensor<*x!ft.unknown> {ft.role = "output", ft.name = "empty"},
          tensor<*x!ft.unknown> {ft.role = "output", ft.name = "transposed"},
          tensor<*x!ft.unknown> {ft.role = "output", ft.name = "channels_last"},
          tensor<*x!ft.unknown> {ft.role = "output", ft.name = "computed"},
          tensor<*x!ft.unknown> {ft.role = "output", ft.name = "gaps"}) {
    %written = ft.custom "test::fill_"(%x, 3) : (tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>>) -> tensor<*x!ft.unknown>
    %empty = ft.custom "test::scale"(%none, 3.0) : (tensor<0x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %transposed = ft.custom "test::strides"(%x) : (tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>>) -> tensor<*x!ft.unknown>
    %cl = ft.custom "test::strides"(%image) : (tensor<1x2x2x2xf32, #ft.meta<strides = [8, 1, 4, 2], cpu>>) -> tensor<*x!ft.unknown>
    %relu = ft.aten "relu"(%image) : (tensor<1x2x2x2xf32, #ft.meta<strides = [8, 1, 4, 2], cpu>>) -> tensor<*x!ft.unknown>
    %computed = ft.custom "test::strides"(%relu) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %column = ft.aten "select.int"(%image, 3, 1) : (tensor<1x2x2x2xf32, #ft.meta<strides = [8, 1, 4, 2], cpu>>) -> tensor<*x!ft.unknown>
    %gaps = ft.custom "test::strides"(%column) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %written, %empty, %transposed, %cl, %computed, %gaps : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
