// Calls of operators that are not registered are read and printed as they are;
// `ft.keywords` is theirs alone.
// RUN: %ft-opt %s | %ft-opt | FileCheck %s

// CHECK-LABEL: @calls
// CHECK: ft.custom "demo::scale"(%arg0, 2.0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: ft.custom "demo::scale.int"(%arg0, none, [1, 2], mode = "wrap", by = -3) {ft.name = "y"} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: ft.custom "demo::cat"([%arg0, %arg0], like = %arg0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
// CHECK: ft.custom "demo::note"() : () -> ()
func.func @calls(%x: tensor<4xf32>) {
  %0 = ft.custom "demo::scale"(%x, 2.0) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ft.custom "demo::scale.int"(%x, none, [1, 2], mode = "wrap", by = -3) {ft.name = "y"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = ft.custom "demo::cat"([%x, %x], like = %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  ft.custom "demo::note"() : () -> ()
  return
}
