// The square of a number that the data decide, in a formula, and a size that
// has four times as many elements.
module attributes {ft.model = "products", ft.stage = "import"} {
  func.func @forward(
      %zero: tensor<i64, #ft.meta<cpu>> {ft.kind = "input", ft.name = "zero", ft.target = "zero"})
      -> (tensor<*x!ft.unknown> {ft.name = "square", ft.role = "output"},
          tensor<*x!ft.unknown> {ft.name = "sum", ft.role = "output"}) {
    %n = ft.add.Scalar(%zero, NUMBER) : (tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %i = ft.aten "item.default"(%n) : (tensor<*x!ft.unknown>) -> i64
    ft.aten "sym_constrain_range_for_size.default"(%i) : (i64) -> ()
    %p = ft.aten "operator.mul"(%i, %i) : (i64, i64) -> i64
    %square = ft.add.Scalar(%zero, %p) : (tensor<i64, #ft.meta<cpu>>, i64) -> tensor<*x!ft.unknown>
    %z = ft.zeros([%i, 4]) : (i64) -> tensor<*x!ft.unknown>
    %sum = ft.sum(%z) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %square, %sum : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
