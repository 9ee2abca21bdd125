// Calls of the operators of tests/plugins, each in its own output.
module attributes {ft.model = "custom"} {
  func.func @forward() -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "scaled"},
                           tensor<*x!ft.unknown> {ft.role = "output", ft.name = "filled"},
                           tensor<*x!ft.unknown> {ft.role = "output", ft.name = "old"},
                           tensor<*x!ft.unknown> {ft.role = "output", ft.name = "new"},
                           tensor<*x!ft.unknown> {ft.role = "output", ft.name = "low"},
                           tensor<*x!ft.unknown> {ft.role = "output", ft.name = "high"},
                           tensor<*x!ft.unknown> {ft.role = "output", ft.name = "strides"},
                           tensor<*x!ft.unknown> {ft.role = "output", ft.name = "contiguous"},
                           tensor<*x!ft.unknown> {ft.role = "output", ft.name = "gathered"}) {
    %flat = ft.aten "arange.default"(6, dtype = float32) : () -> tensor<*x!ft.unknown>
    %x = ft.aten "view.default"(%flat, [2, 3]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.aten "transpose.int"(%x, 0, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>

    // A number for a float; a transposed tensor in its own strides.
    %scaled = ft.custom "test::scale"(%t, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>

    // Writing through a view: column 1 of y.
    %y = ft.aten "clone.default"(%x) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %column = ft.aten "select.int"(%y, 1, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %z = ft.custom "test::fill_"(%column, 7) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>

    // A result beside a written argument.
    %new = ft.aten "clone.default"(%x) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %old = ft.custom "test::exchange_add_"(%new, 10.0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>

    %low, %high = ft.custom "test::min_max"(%x) : (tensor<*x!ft.unknown>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    %strides = ft.custom "test::strides"(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %contiguous = ft.custom "test::strides.contiguous"(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %gathered = ft.custom "test::gather_all"([%x, %column], %x, [100, 200], mode = "negative") : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %scaled, %y, %old, %new, %low, %high, %strides, %contiguous, %gathered
      : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
