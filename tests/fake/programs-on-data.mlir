// RUN: %ft-opt -ft-fake-propagate -split-input-file -verify-diagnostics %s | FileCheck %s
// Programs whose sizes are numbers that data decide: what they check of them is
// known from there on, and what they leave open is checked by the run.

// u, v = i.item(), j.item() with 0 <= u <= v <= 100: x(100, 4)[u:v]

// CHECK-LABEL: module
// CHECK-NOT: ft.assert
// CHECK: ft.slice{{.*}} -> tensor<?x4xf32, #ft.meta<["-u0 + u1"], offset = "4*u0", cpu>>
module {
  func.func @forward(%x: tensor<100x4xf32, #ft.meta<cpu>>, %i: tensor<i64, #ft.meta<cpu>>, %j: tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %u = ft.aten "item.default"(%i) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %v = ft.aten "item.default"(%j) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %a = ft.aten "operator.ge"(%u, 0) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%a, "u >= 0") : (i1) -> ()
    %b = ft.aten "operator.le"(%u, %v) : (i64, i64) -> i1
    ft.aten "_assert_scalar.default"(%b, "u <= v") : (i1) -> ()
    %c = ft.aten "operator.le"(%v, 100) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%c, "v <= 100") : (i1) -> ()
    %s = ft.slice(%x, 0, %u, %v) : (tensor<100x4xf32, #ft.meta<cpu>>, i64, i64) -> tensor<*x!ft.unknown>
    return %s : tensor<*x!ft.unknown>
  }
}

// -----
// y[:k] of a checked k, y of n

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK-NOT: ft.assert
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<[u0], cpu>>
module {
  ft.symbol "n" {hint = 8 : i64, lower = 0 : i64, source = "y:0"}
  func.func @forward(%y: tensor<?xf32, #ft.meta<["n"], cpu>>, %i: tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %n = ft.aten "sym_size.int"(%y, 0) : (tensor<?xf32, #ft.meta<["n"], cpu>>) -> i64
    %k = ft.aten "item.default"(%i) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %a = ft.aten "operator.ge"(%k, 0) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%a, "k >= 0") : (i1) -> ()
    %b = ft.aten "operator.le"(%k, %n) : (i64, i64) -> i1
    ft.aten "_assert_scalar.default"(%b, "k <= n") : (i1) -> ()
    %s = ft.slice(%y, 0, 0, %k) : (tensor<?xf32, #ft.meta<["n"], cpu>>, i64) -> tensor<*x!ft.unknown>
    return %s : tensor<*x!ft.unknown>
  }
}

// -----
// y[k] and y[k:] of numbers that nothing is known of: one is in range or an
// error of the run, the other is cut to what is there.

// CHECK-LABEL: module
// CHECK: ft.assert "u0 >= -10" {cause = "select"
// CHECK: ft.assert "u0 <= 9" {cause = "select"
// CHECK-NEXT: ft.select.int{{.*}} -> tensor<f32, #ft.meta<offset = "u0 + 10*Min(1, Max(0, -u0))", cpu>>
// CHECK: ft.slice
module {
  func.func @forward(%y: tensor<10xf32, #ft.meta<cpu>>, %i: tensor<i64, #ft.meta<cpu>>, %j: tensor<i64, #ft.meta<cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) {
    %k = ft.aten "item.default"(%i) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %l = ft.aten "item.default"(%j) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %s = ft.select.int(%y, 0, %k) : (tensor<10xf32, #ft.meta<cpu>>, i64) -> tensor<*x!ft.unknown>
    %t = ft.slice(%y, 0, %l) : (tensor<10xf32, #ft.meta<cpu>>, i64) -> tensor<*x!ft.unknown>
    return %s, %t : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}

// -----
// x(10, 2).split([u, v]) of u + v == 10

// CHECK-LABEL: module
// CHECK-NOT: ft.assert
// CHECK: "split_with_sizes.default"{{.*}} -> (tensor<?x2xf32, #ft.meta<[u0], cpu>>, tensor<?x2xf32, #ft.meta<[u1], offset = "2*u0", cpu>>)
module {
  func.func @forward(%x: tensor<10x2xf32, #ft.meta<cpu>>, %i: tensor<i64, #ft.meta<cpu>>, %j: tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %u = ft.aten "item.default"(%i) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %v = ft.aten "item.default"(%j) : (tensor<i64, #ft.meta<cpu>>) -> i64
    ft.aten "sym_constrain_range_for_size.default"(%u) : (i64) -> ()
    ft.aten "sym_constrain_range_for_size.default"(%v) : (i64) -> ()
    %n = ft.aten "operator.add"(%u, %v) : (i64, i64) -> i64
    %b = ft.aten "operator.eq"(%n, 10) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%b, "u + v == 10") : (i1) -> ()
    %p:2 = ft.aten "split_with_sizes.default"(%x, [%u, %v]) : (tensor<10x2xf32, #ft.meta<cpu>>, i64, i64) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    return %p#1 : tensor<*x!ft.unknown>
  }
}

// -----
// x[k] of a checked k, x of (n, 3): a row

// CHECK-LABEL: module
// CHECK-NOT: ft.assert
// CHECK: ft.select.int{{.*}} -> tensor<3xf32, #ft.meta<offset = "3*u0", cpu>>
module {
  ft.symbol "n" {hint = 6 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?x3xf32, #ft.meta<["n"], cpu>>, %i: tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %n = ft.aten "sym_size.int"(%x, 0) : (tensor<?x3xf32, #ft.meta<["n"], cpu>>) -> i64
    %k = ft.aten "item.default"(%i) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %a = ft.aten "operator.ge"(%k, 0) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%a, "k >= 0") : (i1) -> ()
    %b = ft.aten "operator.lt"(%k, %n) : (i64, i64) -> i1
    ft.aten "_assert_scalar.default"(%b, "k < n") : (i1) -> ()
    %s = ft.select.int(%x, 0, %k) : (tensor<?x3xf32, #ft.meta<["n"], cpu>>, i64) -> tensor<*x!ft.unknown>
    return %s : tensor<*x!ft.unknown>
  }
}

// -----
// zeros(max(nonzero(x).size(0), nonzero(y).size(0))) of x(4), y(5)

// CHECK-LABEL: module
// CHECK: ft.symbol "u0" {lower = 0 : i64, source = "nonzero", upper = 4 : i64}
// CHECK: ft.symbol "u1" {lower = 0 : i64, source = "nonzero", upper = 5 : i64}
// CHECK-NOT: ft.assert
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<["Max(u0, u1)"], cpu>>
module {
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>>, %y: tensor<5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %i = ft.aten "nonzero.default"(%x) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %j = ft.aten "nonzero.default"(%y) : (tensor<5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %n = ft.aten "sym_size.int"(%i, 0) : (tensor<*x!ft.unknown>) -> i64
    %m = ft.aten "sym_size.int"(%j, 0) : (tensor<*x!ft.unknown>) -> i64
    %k = ft.aten "torch.sym_max"(%n, %m) : (i64, i64) -> i64
    %z = ft.zeros([%k]) : (i64) -> tensor<*x!ft.unknown>
    return %z : tensor<*x!ft.unknown>
  }
}

// -----
// x[x > 0] + x[x > 0] of one mask: one size. Of two masks the run compares.

// CHECK-LABEL: module
// CHECK: ft.add(%[[A:[0-9]+]], %[[A]])
// CHECK: ft.assert "u0 == u1" {cause = "add", id = "a0"
// CHECK-NEXT: ft.add
module {
  func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>>, %y: tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %p = ft.gt.Scalar(%x, 0) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %q = ft.gt.Scalar(%y, 0) : (tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %a = ft.aten "masked_select.default"(%x, %p) : (tensor<4xf32, #ft.meta<cpu>>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %b = ft.aten "masked_select.default"(%y, %q) : (tensor<4xf32, #ft.meta<cpu>>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %s = ft.add(%a, %a) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %r = ft.add(%s, %b) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// Attention on the rows of a mask: y = x[mask], sdpa(y, y, y)

// CHECK-LABEL: module
// CHECK: ft.symbol "u0" {lower = 0 : i64, source = "{{.*}}", upper = 5 : i64}
// CHECK-NOT: ft.assert
// CHECK: return {{.*}} : tensor<?x4x8x16xf32, #ft.meta<[u0]
module {
  func.func @forward(%x: tensor<5x4x8x16xf32, #ft.meta<cpu>>, %m: tensor<5xi1, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %y = ft.aten "index.Tensor"(%x, [%m]) : (tensor<5x4x8x16xf32, #ft.meta<cpu>>, tensor<5xi1, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.scaled_dot_product_attention(%y, %y, %y) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// 256*u == 256 is u == 1: a view that is right for both is left to the run.

// CHECK-LABEL: module
// CHECK: ft.assert "u0 == 1" {cause = "view", id = "a1"
// CHECK-NEXT: ft.view
// CHECK: return {{.*}} : tensor<256xf32, #ft.meta<cpu>>
module {
  func.func @forward(%i: tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %u = ft.aten "item.default"(%i) : (tensor<i64, #ft.meta<cpu>>) -> i64
    ft.aten "sym_constrain_range_for_size.default"(%u) : (i64) -> ()
    %n = ft.aten "operator.mul"(%u, 256) : (i64) -> i64
    %z = ft.zeros([%n]) : (i64) -> tensor<*x!ft.unknown>
    %r = ft.view(%z, [256]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// A step from a list of offsets: (2*u) // (u + v) where it divides and is not 0.

// CHECK-LABEL: module
// CHECK-NOT: ft.assert
// CHECK: ft.zeros{{.*}} -> tensor<?xf32, #ft.meta<["(2*u0)//(u0 + u1)"], cpu>>
// CHECK: return
module {
  func.func @forward(%i: tensor<i64, #ft.meta<cpu>>, %j: tensor<i64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %u = ft.aten "item.default"(%i) : (tensor<i64, #ft.meta<cpu>>) -> i64
    %v = ft.aten "item.default"(%j) : (tensor<i64, #ft.meta<cpu>>) -> i64
    ft.aten "sym_constrain_range_for_size.default"(%u) : (i64) -> ()
    ft.aten "sym_constrain_range.default"(%v, 1, 100) : (i64) -> ()
    %t = ft.aten "operator.mul"(%u, 2) : (i64) -> i64
    %s = ft.aten "operator.add"(%u, %v) : (i64, i64) -> i64
    %m = ft.aten "operator.mod"(%t, %s) : (i64, i64) -> i64
    %a = ft.aten "operator.eq"(%m, 0) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%a, "divides") : (i1) -> ()
    %q = ft.aten "operator.floordiv"(%t, %s) : (i64, i64) -> i64
    %b = ft.aten "operator.ne"(%q, 0) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%b, "not 0") : (i1) -> ()
    %z = ft.zeros([%q]) : (i64) -> tensor<*x!ft.unknown>
    return %z : tensor<*x!ft.unknown>
  }
}
