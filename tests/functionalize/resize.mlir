// RUN: %ft-opt -ft-fake-propagate -ft-functionalize -split-input-file %s | FileCheck %s
// resize_ and set_: the tensor has other sizes, or another storage, from there
// on, under all its names; other tensors of the old storage keep theirs.

// An alias grows: a larger storage, of which the base is a view.
//
// CHECK-LABEL: func.func @forward
// CHECK: %[[B:.*]] = ft.{{.*}}add{{.*}}(%{{.*}}, 1)
// CHECK: %[[FLAT:.*]] = ft.{{.*}}as_strided{{.*}}(%[[B]], [1], [1], 0)
// CHECK: %[[GROWN:.*]] = ft.{{.*}}constant_pad_nd{{.*}}(%[[FLAT]], [0, 11]
// CHECK: %[[M:.*]] = ft.{{.*}}mul{{.*}}(%{{.*}}, 3)
// CHECK: %[[NEW:.*]] = ft.{{.*}}as_strided_scatter{{.*}}({{.*}}%[[M]], [12], [1], 0)
// CHECK: %[[AGAIN:.*]] = ft.{{.*}}as_strided{{.*}}(%[[NEW]], [1], [1], 0)
// CHECK: %[[Y:.*]] = ft.{{.*}}add{{.*}}(%[[AGAIN]], 1)
// CHECK: return %[[Y]] : tensor<1xf32
module {
  func.func @forward(%x: tensor<1xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output"}) {
    %b = ft.aten "add.Tensor"(%x, 1) : (tensor<1xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %a = ft.aten "view.default"(%b, [-1]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %r = ft.aten "resize_.default"(%a, [12]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %m = ft.aten "mul_.Tensor"(%r, 3) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %y = ft.aten "add.Tensor"(%b, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}

// -----

// What fits is a view of the storage that is there.
//
// CHECK-LABEL: func.func @forward
// CHECK: %[[B:.*]] = ft.{{.*}}add{{.*}}(%{{.*}}, 1)
// CHECK: %[[S:.*]] = ft.{{.*}}as_strided{{.*}}(%[[B]], [2, 2], [2, 1], 0)
// CHECK: %[[Y:.*]] = ft.{{.*}}mul{{.*}}(%[[S]], 2)
// CHECK: return %[[Y]] : tensor<2x2xf32
module {
  func.func @forward(%x: tensor<6xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output"}) {
    %b = ft.aten "add.Tensor"(%x, 1) : (tensor<6xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.aten "resize_.default"(%b, [2, 2]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %y = ft.aten "mul.Tensor"(%b, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %y : tensor<*x!ft.unknown>
  }
}

// -----

// %b shares the storage of %c from there on: what is written to it is in %c.
//
// CHECK-LABEL: func.func @forward
// CHECK: %[[C:.*]] = ft.{{.*}}mul{{.*}}(%{{.*}}, 2)
// CHECK: %[[N:.*]] = ft.{{.*}}add{{.*}}(%[[C]], 1)
// CHECK: return %[[N]]
module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output"}) {
    %b = ft.aten "add.Tensor"(%x, 1) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %c = ft.aten "mul.Tensor"(%x, 2) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %s = ft.aten "set_.source_Tensor"(%b, %c) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %w = ft.aten "add_.Tensor"(%b, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %c : tensor<*x!ft.unknown>
  }
}

// -----

// out= of another size.
//
// CHECK-LABEL: func.func @forward
// CHECK: %[[M:.*]] = ft.{{.*}}mul{{.*}}(%arg0, 2)
// CHECK: return %{{.*}} : tensor<2xf32
module {
  func.func @forward(%x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output"}) {
    %o = ft.aten "empty.memory_format"([0]) : () -> tensor<*x!ft.unknown>
    %y = ft.aten "mul.Scalar"(%x, 2) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %m = ft.aten "mul.out"(%x, %y, %o) : (tensor<2xf32, #ft.meta<cpu>>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %o : tensor<*x!ft.unknown>
  }
}

// -----

// Two results, each of a size of its own, written to tensors of none.
//
// CHECK-LABEL: func.func @forward
// CHECK: %[[H:.*]]:2 = ft.{{.*}}histogram.bin_ct"(%arg0, 4
// CHECK: return %{{.*}}, %{{.*}} : tensor<4xf32{{.*}}, tensor<5xf32
module {
  func.func @forward(%x: tensor<6xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"}) -> (tensor<*x!ft.unknown> {ft.role = "output"}, tensor<*x!ft.unknown> {ft.role = "output"}) {
    %h = ft.aten "empty.memory_format"([0]) : () -> tensor<*x!ft.unknown>
    %e = ft.aten "empty.memory_format"([0]) : () -> tensor<*x!ft.unknown>
    %r:2 = ft.aten "histogram.bin_ct_out"(%x, 4, range = [0.0, 8.0], hist = %h, bin_edges = %e) : (tensor<6xf32, #ft.meta<cpu>>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    return %h, %e : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
