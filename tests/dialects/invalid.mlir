// RUN: %ft-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{#ft.meta has 1 strides for 2 dims}}
func.func private @rank(tensor<4x3xf32, #ft.meta<strides = [1], cpu>>)

// -----

// expected-error @+1 {{strides and offset must not be negative}}
func.func private @negative(tensor<4x3xf32, #ft.meta<strides = [-1, 4], cpu>>)

// -----

// expected-error @+1 {{no tensor has element type 'i7'}}
func.func private @element(tensor<4xi7, #ft.meta<cpu>>)

// -----

func.func @overload(%x: tensor<4xf32>) {
  // expected-error @+1 {{unknown overload 'no_such_op'}}
  %0 = ft.aten "no_such_op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @missing(%x: tensor<4xf32>) {
  // expected-error @+1 {{argument 'other' is missing}}
  %0 = ft.aten "add.Tensor"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @surplus(%x: tensor<4xf32>) {
  // expected-error @+1 {{one argument too many}}
  %0 = ft.aten "relu.default"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @kind(%x: tensor<4xf32>) {
  // expected-error @+1 {{argument 'dim0' of transpose.int does not fit its type}}
  %0 = ft.aten "transpose.int"(%x, "a", 1) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @name(%x: tensor<4xf32>) {
  // expected-error @+1 {{no argument 'beta'}}
  %0 = ft.aten "add.Tensor"(%x, %x, beta = 1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
