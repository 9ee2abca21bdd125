// RUN: %ft-opt -ft-lower-to-linalg %s | FileCheck %s
// Indices and offsets are both data: both are checked. An offset may be as large
// as the number of indices.

// CHECK: ft.check_index {{.*}}high = 10 : i64, low = 0 : i64
// CHECK: ft.check_index {{.*}}high = 4 : i64, low = 0 : i64
module {
  func.func @forward(%w: tensor<10x4xf32, #ft.meta<cpu>>, %i: tensor<3xi64, #ft.meta<cpu>>, %o: tensor<2xi64, #ft.meta<cpu>>)
      -> (tensor<2x4xf32, #ft.meta<cpu>> {ft.role = "output"}) {
    %y:4 = ft.aten "embedding_bag.padding_idx"(%w, %i, %o, false, 0, false, none, false, none) : (tensor<10x4xf32, #ft.meta<cpu>>, tensor<3xi64, #ft.meta<cpu>>, tensor<2xi64, #ft.meta<cpu>>) -> (tensor<2x4xf32, #ft.meta<cpu>>, tensor<3xi64, #ft.meta<cpu>>, tensor<2xi64, #ft.meta<cpu>>, tensor<2xi64, #ft.meta<cpu>>)
    return %y#0 : tensor<2x4xf32, #ft.meta<cpu>>
  }
}
