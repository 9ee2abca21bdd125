module attributes {ft.model = "literals"} {
  func.func @forward(%x: tensor<2x8xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.name = "y", ft.role = "output"},
          tensor<*x!ft.unknown> {ft.name = "z", ft.role = "output"}) {
    %rows = ft.arange(2) : () -> tensor<*x!ft.unknown>
    %columns = ft.arange(8) : () -> tensor<*x!ft.unknown>
    %row = ft.unsqueeze(%rows, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %one = ft.unsqueeze(%columns, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %ids = ft.expand(%one, [2, 8]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %mask = ft.index(%ids, [%row, %columns]) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %y = ft.add(%x, %mask) : (tensor<2x8xf32, #ft.meta<cpu>>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %table = ft.zeros([2, 3]) : () -> tensor<*x!ft.unknown>
    %heads = ft.arange(2) : () -> tensor<*x!ft.unknown>
    %head = ft.unsqueeze(%heads, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %z = ft.add(%table, %head) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %y, %z : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
