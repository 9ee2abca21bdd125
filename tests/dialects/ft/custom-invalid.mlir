// RUN: %ft-opt %s -split-input-file -verify-diagnostics

func.func @name(%x: tensor<4xf32>) {
  // expected-error @+1 {{names no operator: expected namespace::name}}
  %0 = ft.custom "scale"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @order(%x: tensor<4xf32>) {
  // expected-error @+1 {{a name is missing}}
  %0 = ft.custom "demo::scale"(by = 2, %x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @args(%x: tensor<4xf32>) {
  // expected-error @+1 {{has arguments that do not belong together}}
  %0 = "ft.custom"(%x) {callee = "demo::scale", args = []} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
