// RUN: %ft-opt -ft-fake-propagate %s -split-input-file -verify-diagnostics

// A call that its rule refuses: both values, and the overload.
module {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>>, %y: tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    // expected-error @+1 {{[FT0302] the inner sizes differ: dim 1 of 'self' has size 3, dim 0 of 'mat2' has size 4 (in aten.mm.default; self is float32 [2, 3] cpu, mat2 is float32 [4, 5] cpu)}}
    %z = ft.aten "mm.default"(%x, %y) : (tensor<2x3xf32, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %z : tensor<*x!ft.unknown>
  }
}

// -----

// Errors that do not depend on each other are all reported.
module {
  func.func @forward(%x: tensor<2x3xi32, #ft.meta<cpu>>, %y: tensor<2x3xf32, #ft.meta<cuda:0>>) -> tensor<*x!ft.unknown> {
    // expected-error @+1 {{[FT0303] mean needs a floating or complex dtype, not int32 (in aten.mean.default; self is int32 [2, 3] cpu)}}
    %a = ft.aten "mean.default"(%x) : (tensor<2x3xi32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    // expected-error @+1 {{[FT0304] the tensors must be on the same device, not on cpu and cuda:0, as 'self' and 'other' are (in aten.add.Tensor; self is int32 [2, 3] cpu, other is float32 [2, 3] cuda:0)}}
    %b = ft.aten "add.Tensor"(%x, %y) : (tensor<2x3xi32, #ft.meta<cpu>>, tensor<2x3xf32, #ft.meta<cuda:0>>) -> tensor<*x!ft.unknown>
    %c = ft.aten "relu.default"(%b) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %c : tensor<*x!ft.unknown>
  }
}

// -----

// What the archive claims is compared, strides where they matter.
module {
  func.func @forward(%x: tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    // expected-warning @+1 {{[FT0310] 't' is float32 [3, 2] strides [1, 3] cpu, the archive claims float32 [3, 2] cpu}}
    %t = ft.aten "t.default"(%x) {ft.name = "t", ft.declared = tensor<3x2xf32, #ft.meta<cpu>>} : (tensor<2x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %t : tensor<*x!ft.unknown>
  }
}

// -----

module {
  // expected-error @+1 {{[FT0107] argument 0 of @forward has neither a layout nor a declared one}}
  func.func @forward(%x: tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown> {
    return %x : tensor<*x!ft.unknown>
  }
}

// -----

// A view of the whole storage may go back to what lies around it; what is made
// afresh, and an argument, ends with its last element.
module {
  func.func @forward(%x: tensor<5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %s = ft.aten "slice.Tensor"(%x, 0, 0, 2, 1) : (tensor<5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %v = ft.aten "as_strided.default"(%s, [5], [1], 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    // expected-error @+1 {{[FT0302] the view would end with element 8 of its storage, 'self' with element 4 (in aten.as_strided.default; self is float32 [5] cpu)}}
    %a = ft.aten "as_strided.default"(%x, [3], [4], none) : (tensor<5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %v : tensor<*x!ft.unknown>
  }
}
