// RUN: not %ft-opt -split-input-file -ft-fake-propagate %s 2>&1 | FileCheck %s
// Values that are none of the argument's.

// CHECK: [FT0107] ft.constant of argument 0 has the type 'tensor<3xi64>', the argument is int64 [2] cpu
module {
  func.func @forward(%n: tensor<2xi64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<[3, 4, 5]> : tensor<3xi64>}) {
    return
  }
}

// -----

// CHECK: [FT0107] ft.constant of argument 0 has the type 'tensor<2xi32>', the argument is int64 [2] cpu
module {
  func.func @forward(%n: tensor<2xi64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<3> : tensor<2xi32>}) {
    return
  }
}

// -----

// CHECK: [FT0107] ft.constant of argument 0 must be dense elements: "three"
module {
  func.func @forward(%n: tensor<i64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = "three"}) {
    return
  }
}

// -----

// CHECK: [FT0107] ft.constant of argument 0 must not be: only tensors of at most 6 integers, bools or floats carry their value, this is int64 [1000000] cpu
module {
  func.func @forward(%n: tensor<1000000xi64, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<0> : tensor<1000000xi64>}) {
    return
  }
}

// -----

// CHECK: [FT0107] ft.constant of argument 0 is the value of a "constant", which it is not
module {
  func.func @forward(%n: tensor<i64, #ft.meta<cpu>> {ft.kind = "input", ft.constant = dense<3> : tensor<i64>}) {
    return
  }
}

// -----

// CHECK: [FT0107] ft.constant of argument 0 must not be: {{.*}}float16 [2]
module {
  func.func @forward(%n: tensor<2xf16, #ft.meta<cpu>> {ft.kind = "constant", ft.constant = dense<[1.0, 2.0]> : tensor<2xf16>}) {
    return
  }
}
