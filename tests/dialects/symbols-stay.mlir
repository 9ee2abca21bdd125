// A symbol that only types name is not removed as unused: ft.symbol is no MLIR
// Symbol.
//
// RUN: %ft-opt %s --symbol-dce --canonicalize --cse | FileCheck %s
// CHECK: ft.symbol "s0"
// CHECK: ft.fact "s0 <= 64"
// CHECK-NOT: @unused
ft.symbol "s0" {lower = 2 : i64, upper = 64 : i64, source = "x:0"}
ft.fact "s0 <= 64"
func.func private @unused()
func.func @forward(%x: tensor<?x4xf32, #ft.meta<[s0], cpu>>) -> tensor<?x4xf32, #ft.meta<[s0], cpu>> {
  return %x : tensor<?x4xf32, #ft.meta<[s0], cpu>>
}
