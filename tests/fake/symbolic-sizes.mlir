// RUN: %ft-opt -ft-fake-propagate %s | FileCheck %s
// To ask for a layout says nothing of symbols: no range changes, and no fact or
// guard is made.

// CHECK: ft.symbol "h"
// CHECK-NOT: ft.fact
// CHECK-NOT: ft.guard
module {
  ft.symbol "h" {hint = 3 : i64, lower = 1 : i64, source = "x:2"}
  ft.symbol "w" {hint = 4 : i64, lower = 1 : i64, source = "x:3"}
  func.func @forward(%x: tensor<1x3x?x?xf32, #ft.meta<["3*h", "3*w"], cpu>>) -> tensor<*x!ft.unknown> {
    // CHECK: constant_pad_nd{{.*}} -> tensor<1x3x?x?xf32, #ft.meta<["3*h + 2", "3*w + 2"], cpu>>
    %y = ft.aten "constant_pad_nd.default"(%x, [1, 1, 1, 1], 0) : (tensor<1x3x?x?xf32, #ft.meta<["3*h", "3*w"], cpu>>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
