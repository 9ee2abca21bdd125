#map = affine_map<(d0, d1)[s0] -> (d0 + 2 * d1 floordiv 3, -s0 mod 4)>
#set = affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 3)>
!t = tuple<i32, tensor<2x?xf32>>
#loc = loc("a.py":1:2)
module attributes {ft.m = #map, ft.s = #set, ft.d = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>, ft.a = array<i64: 1, 2>, ft.t = !t, ft.c = #ft.complex<1.0, 2.0>, ft.v = #ft.device<cuda:1>} {
  ft.symbol "s0" {lower = 2 : i64, source = "x:0"}
  ft.fact "s0 <= 64"
  func.func @forward(%x: tensor<?x4xf32, #ft.meta<[s0], strides = ["2*s0", 1], offset = 8, cuda:0, conj>>) -> (tensor<*x!ft.unknown> {ft.role = "output"}) {
    %c = arith.constant 2 : i64
    %y = ft.aten "add.Tensor"(%x, 2.5, alpha = 3) {ft.name = "y"} : (tensor<?x4xf32, #ft.meta<[s0], strides = ["2*s0", 1], offset = 8, cuda:0, conj>>) -> tensor<*x!ft.unknown> loc("y"(#loc))
    %z = ft.aten "full.default"([%c, 2], inf, dtype = float32) : (i64) -> tensor<*x!ft.unknown> loc(fused<"m">[callsite(#loc at "b.py":3:4)])
    return %z : tensor<*x!ft.unknown>
  }
}
