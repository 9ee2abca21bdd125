func.func @cond(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = ft.cond(%p, %x) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  then (%a: tensor<2xf32>) {
    %s = ft.sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
    ft.yield %s : tensor<2xf32>
  } else (%a: tensor<2xf32>) {
    %c = ft.cos(%a) : (tensor<2xf32>) -> tensor<2xf32>
    ft.yield %c : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}
func.func @while(%i: tensor<i64>, %x: tensor<2xf32>, %w: tensor<2xf32>) {
  %n, %y = ft.while(%i, %x) captured(%w)
    : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>)
  cond (%k: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
    %lt = ft.lt.Scalar(%k, 5) : (tensor<i64>) -> tensor<i1>
    ft.yield %lt : tensor<i1>
  } do (%k: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
    %next = ft.add(%k, 1) : (tensor<i64>) -> tensor<i64>
    %m = ft.mul(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    ft.yield %next, %m : tensor<i64>, tensor<2xf32>
  }
  return
}
func.func @map_backward(%x: tensor<4x2xf32>, %w: tensor<4xf32>) {
  %ys = ft.scan init() over(%x) captured(%w) {dim = 1 : i64, reverse}
    : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<4x2xf32>
  do (%b: tensor<4xf32>, %v: tensor<4xf32>) {
    %t = ft.mul(%b, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ft.yield %t : tensor<4xf32>
  }
  return
}
