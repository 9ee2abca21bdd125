// A column of ones is doubled in place; a tensor that `t_` has turned is added
// to, and multiplied into another one that is turned too. Two tensors without
// elements get those of a histogram.
module attributes {ft.model = "mutation"} {
  func.func @forward()
      -> (tensor<*x!ft.unknown> {ft.name = "column", ft.role = "output"}, tensor<*x!ft.unknown> {ft.name = "all", ft.role = "output"},
          tensor<*x!ft.unknown> {ft.name = "turned", ft.role = "output"}, tensor<*x!ft.unknown> {ft.name = "product", ft.role = "output"},
          tensor<*x!ft.unknown> {ft.name = "counts", ft.role = "output"}, tensor<*x!ft.unknown> {ft.name = "edges", ft.role = "output"}) {
    %x = ft.aten "ones.default"([2, 2], none, none, none, none) : () -> tensor<*x!ft.unknown>
    %v = ft.aten "select.int"(%x, 1, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %d = ft.aten "mul_.Scalar"(%v, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %p = ft.aten "add.Tensor"(%v, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %a = ft.aten "arange.default"(6.0, none, none, none, none) : () -> tensor<*x!ft.unknown>
    %y = ft.aten "reshape.default"(%a, [2, 3]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.aten "t_.default"(%y) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %i = ft.aten "add_.Tensor"(%y, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %z = ft.aten "neg.default"(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %w = ft.aten "reshape.default"(%z, [2, 3]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %u = ft.aten "t_.default"(%w) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %m = ft.aten "mul_.Tensor"(%w, %y) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %h = ft.aten "empty.memory_format"([0]) : () -> tensor<*x!ft.unknown>
    %e = ft.aten "empty.memory_format"([0]) : () -> tensor<*x!ft.unknown>
    %n:2 = ft.aten "histogram.bin_ct_out"(%y, 2, range = [0.0, 8.0], hist = %h, bin_edges = %e) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    return %p, %x, %y, %z, %h, %e : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
