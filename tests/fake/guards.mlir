// RUN: %ft-opt -ft-fake-propagate %s -split-input-file | FileCheck %s
// RUN: %ft-opt -ft-fake-propagate %s -split-input-file | %ft-opt -ft-fake-propagate -split-input-file | FileCheck %s
// What the program needs of sizes becomes a guard, decided as the example has
// it; a second walk makes the same ones.

// CHECK-LABEL: module
// CHECK: ft.symbol "a"
// CHECK-NEXT: ft.symbol "b"
// CHECK-NEXT: ft.fact "a == b" {cause = "add", ft.instead = ["b == 1", "a == 1"], id = "g0", place = "{{.*}}"}
// CHECK-NOT: ft.fact
module {
  ft.symbol "a" {hint = 5 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 5 : i64, lower = 0 : i64, source = "y:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>, %y: tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown> {
    %z = ft.add(%x, %y) : (tensor<?xf32, #ft.meta<["a"], cpu>>, tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown>
    return %z : tensor<*x!ft.unknown>
  }
}

// -----
// A later guard may make an earlier one superfluous.

// CHECK-LABEL: module
// CHECK: ft.fact "a % 2 == 0" {cause = "view", id = "g0", implied_by = ["g1"]
// CHECK-NEXT: ft.fact "a % 4 == 0" {cause = "view", id = "g1"
module {
  ft.symbol "a" {hint = 8 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %y = ft.view(%x, [-1, 2]) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    %z = ft.view(%x, [-1, 4]) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    return %z : tensor<*x!ft.unknown>
  }
}

// -----
// Of sizes that data decide an assertion stands in front of the call.

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: %[[I:.*]] = ft.aten "nonzero.default"
// CHECK: %[[J:.*]] = ft.aten "nonzero.default"
// CHECK-NEXT: ft.assert "u0 == u1" {cause = "add", id = "a0"
// CHECK-NEXT: ft.add
module {
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>>, %y: tensor<5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %i = ft.aten "nonzero.default"(%x) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %j = ft.aten "nonzero.default"(%y) : (tensor<5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %z = ft.add(%i, %j) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %z : tensor<*x!ft.unknown>
  }
}
