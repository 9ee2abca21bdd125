// Distances of three points to two others, and the nearest of each.
module attributes {ft.model = "distances"} {
  func.func @forward(
      %points: tensor<3x2xf32, #ft.meta<cpu>>
          {ft.kind = "input", ft.name = "points", ft.target = "points"},
      %centers: tensor<2x2xf32, #ft.meta<cpu>>
          {ft.kind = "input", ft.name = "centers", ft.target = "centers"})
      -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "nearest"}) {
    %d = ft.custom "demo::pair_distance"(%points, %centers, p = 1.0)
        : (tensor<3x2xf32, #ft.meta<cpu>>, tensor<2x2xf32, #ft.meta<cpu>>)
        -> tensor<*x!ft.unknown>
    %nearest = ft.aten "amin"(%d, [1])
        : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %nearest : tensor<*x!ft.unknown>
  }
}
