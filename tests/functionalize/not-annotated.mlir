// RUN: %ft-opt -ft-functionalize %s -verify-diagnostics

// expected-error @+1 {{[FT0107] a value has no layout}}
module {
  func.func @forward(%x: tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown> {
    %y = ft.aten "relu_.default"(%x) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}
