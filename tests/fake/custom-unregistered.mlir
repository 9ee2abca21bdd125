// Operators without a rule are one error, custom ones too.
// RUN: not %ft-opt -ft-fake-propagate %s 2>&1 | FileCheck %s

// CHECK: [FT0301] 2 operators have no shape rule: demo::scale (2 calls, first at {{.*}}custom-unregistered.mlir:8), demo::cat (1 call, first at {{.*}}:10)
// CHECK-NEXT: help: register a fake rule with the custom operators

func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>>) {
  %0 = ft.custom "demo::scale"(%x, 2.0) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  %1 = ft.custom "demo::scale"(%x, 3.0) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  %2 = ft.custom "demo::cat"([%x, %x]) : (tensor<4xf32, #ft.meta<cpu>>, tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  return
}
