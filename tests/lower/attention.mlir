// RUN: %ft-opt -ft-lower-to-linalg %s | FileCheck %s
// Attention is three kernels: scaled scores, a softmax of each row (maximum,
// sum, quotient), and the product with the values. Two heads of the query share
// one of the key; scores of 16-bit operands are float32.

// CHECK-DAG: #[[SHARED:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 floordiv 2, d3, d4)>
// CHECK: linalg.generic {{.*}}, #[[SHARED]], {{.*}} outs(%{{.*}} : tensor<1x4x8x8xf32>) {{.*}}ft.group = [[A:[0-9]+]]
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}}ft.group = [[A]]
// CHECK: arith.mulf
// CHECK: arith.select
// CHECK: linalg.generic {{.*}}ft.group = [[B:[0-9]+]]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}ft.group = [[B]]
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: arith.truncf
// CHECK-NOT: ft.group = [[B]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4x8x8xbf16>, tensor<1x2x8x16xbf16>)
module attributes {ft.model = "m"} {
  func.func @forward(
      %q: tensor<1x4x8x16xbf16, #ft.meta<cpu>> {ft.kind = "input", ft.target = "q"},
      %k: tensor<1x2x8x16xbf16, #ft.meta<cpu>> {ft.kind = "input", ft.target = "k"},
      %v: tensor<1x2x8x16xbf16, #ft.meta<cpu>> {ft.kind = "input", ft.target = "v"})
      -> (tensor<1x4x8x16xbf16, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.scaled_dot_product_attention(%q, %k, %v, is_causal = true, enable_gqa = true) : (tensor<1x4x8x16xbf16, #ft.meta<cpu>>, tensor<1x2x8x16xbf16, #ft.meta<cpu>>, tensor<1x2x8x16xbf16, #ft.meta<cpu>>) -> tensor<1x4x8x16xbf16, #ft.meta<cpu>>
    return %y : tensor<1x4x8x16xbf16, #ft.meta<cpu>>
  }
}
