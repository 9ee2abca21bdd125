// RUN: %ft-opt -ft-fake-propagate -split-input-file -verify-diagnostics %s | FileCheck %s
// Programs that compute with sizes, with the fewest guards that they need.

// f(x, y) of two unrelated sizes that are equal in the example.

// CHECK-LABEL: module
// CHECK: ft.symbol "a"
// CHECK-NEXT: ft.symbol "b"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<[a], cpu>>, tensor<?xf32, #ft.meta<[b], cpu>>
module {
  ft.symbol "a" {hint = 5 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 5 : i64, lower = 0 : i64, source = "y:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>, %y: tensor<?xf32, #ft.meta<["b"], cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) {
    %p = ft.neg(%x) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    %q = ft.neg(%y) : (tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown>
    return %p, %q : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}

// -----
// n = x.size(0) // 2; x[:n] + x[n:]

// CHECK-LABEL: module
// CHECK: ft.fact "a % 2 == 0"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<["a//2"], cpu>>
module {
  ft.symbol "a" {hint = 8 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %a = ft.aten "sym_size.int"(%x, 0) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> i64
    %n = ft.aten "operator.floordiv"(%a, 2) : (i64) -> i64
    %p = ft.slice(%x, 0, 0, %n) : (tensor<?xf32, #ft.meta<["a"], cpu>>, i64) -> tensor<*x!ft.unknown>
    %q = ft.slice(%x, 0, %n) : (tensor<?xf32, #ft.meta<["a"], cpu>>, i64) -> tensor<*x!ft.unknown>
    %r = ft.add(%p, %q) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// arange(0, a, 2): any a

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xi64, #ft.meta<["(a + 1)//2"], cpu>>
module {
  ft.symbol "a" {hint = 8 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %a = ft.aten "sym_size.int"(%x, 0) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> i64
    %r = ft.aten "arange.start_step"(0, %a, 2) : (i64) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x padded to a multiple of 64, then in rows of 64.

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x64xf32, #ft.meta<["(w + (63*w) % 64)//64"], cpu>>
module {
  ft.symbol "w" {hint = 100 : i64, lower = 64 : i64, upper = 128 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["w"], cpu>>) -> tensor<*x!ft.unknown> {
    %w = ft.aten "sym_size.int"(%x, 0) : (tensor<?xf32, #ft.meta<["w"], cpu>>) -> i64
    %m = ft.aten "operator.mod"(%w, 64) : (i64) -> i64
    %n = ft.aten "operator.sub"(64, %m) : (i64) -> i64
    %p = ft.aten "operator.mod"(%n, 64) : (i64) -> i64
    %y = ft.aten "constant_pad_nd.default"(%x, [0, %p], 0) : (tensor<?xf32, #ft.meta<["w"], cpu>>, i64) -> tensor<*x!ft.unknown>
    %r = ft.view(%y, [-1, 64]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// p = (-a) % 4; zeros(a + p).view(-1, 4)

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: ft.zeros{{.*}} -> tensor<?xf32, #ft.meta<["a + (3*a) % 4"], cpu>>
// CHECK: return
module {
  ft.symbol "a" {hint = 10 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %a = ft.aten "sym_size.int"(%x, 0) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> i64
    %m = ft.aten "operator.neg"(%a) : (i64) -> i64
    %p = ft.aten "operator.mod"(%m, 4) : (i64) -> i64
    %n = ft.aten "operator.add"(%a, %p) : (i64, i64) -> i64
    %z = ft.zeros([%n]) : (i64) -> tensor<*x!ft.unknown>
    %r = ft.view(%z, [-1, 4]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.chunk(3), 3 rows of at most 3: the number of chunks is that of rows, which
// the program that was traced has fixed.

// CHECK-LABEL: module
// CHECK: ft.fact "n >= 3" {cause = "chunk"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x2xf32, #ft.meta<["n - 2*((n + 2)//3)"], offset = "4*((n + 2)//3)", cpu>>
module {
  ft.symbol "n" {hint = 3 : i64, lower = 1 : i64, upper = 3 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?x2xf32, #ft.meta<["n"], cpu>>) -> tensor<*x!ft.unknown> {
    %c:3 = ft.aten "chunk.default"(%x, 3) : (tensor<?x2xf32, #ft.meta<["n"], cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    return %c#2 : tensor<*x!ft.unknown>
  }
}

// -----
// x.view(5, -1)[2] - y, x of 5*n, also for n = 1

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<[n], cpu>>
module {
  ft.symbol "n" {hint = 4 : i64, lower = 1 : i64, upper = 8 : i64, source = "y:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["5*n"], cpu>>, %y: tensor<?xf32, #ft.meta<["n"], cpu>>) -> tensor<*x!ft.unknown> {
    %v = ft.view(%x, [5, -1]) : (tensor<?xf32, #ft.meta<["5*n"], cpu>>) -> tensor<*x!ft.unknown>
    %s = ft.select.int(%v, 0, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %r = ft.sub(%s, %y) : (tensor<*x!ft.unknown>, tensor<?xf32, #ft.meta<["n"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// conv of stride 2, transposed conv of stride 2, + x

// CHECK-LABEL: module
// CHECK: ft.fact "h % 2 == 0"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<1x3x?x8xf32, #ft.meta<[h], cpu>>
module {
  ft.symbol "h" {hint = 8 : i64, lower = 1 : i64, source = "x:2"}
  func.func @forward(%x: tensor<1x3x?x8xf32, #ft.meta<["h"], cpu>>, %k: tensor<4x3x3x3xf32, #ft.meta<cpu>>, %t: tensor<4x3x2x2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %c = ft.conv2d(%x, %k, none, [2, 2], [1, 1]) : (tensor<1x3x?x8xf32, #ft.meta<["h"], cpu>>, tensor<4x3x3x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %d = ft.aten "conv_transpose2d.input"(%c, %t, none, [2, 2]) : (tensor<*x!ft.unknown>, tensor<4x3x2x2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.add(%d, %x) : (tensor<*x!ft.unknown>, tensor<1x3x?x8xf32, #ft.meta<["h"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.view(a // 4, 4) * y.view(b // 4, 4), of 4 and 8: which of them has one row is
// for the run to find.

// CHECK-LABEL: module
// CHECK: ft.fact "a % 4 == 0"
// CHECK: ft.fact "b % 4 == 0"
// CHECK: ft.fact "a == 4 or a == b or b == 4"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x4xf32, #ft.meta<["Max(0, a//4 + b//4 - Max(1, Min(a//4, b//4)))"], cpu>>
module {
  ft.symbol "a" {hint = 4 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 8 : i64, lower = 0 : i64, source = "y:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>, %y: tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown> {
    %p = ft.view(%x, [-1, 4]) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    %q = ft.view(%y, [-1, 4]) : (tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.mul(%p, %q) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.view(a*b, 4) @ w

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x5xf32, #ft.meta<["a*b"], cpu>>
module {
  ft.symbol "a" {hint = 2 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 3 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<?x?x4xf32, #ft.meta<["a", "b"], cpu>>, %w: tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %a = ft.aten "sym_size.int"(%x, 0) : (tensor<?x?x4xf32, #ft.meta<["a", "b"], cpu>>) -> i64
    %b = ft.aten "sym_size.int"(%x, 1) : (tensor<?x?x4xf32, #ft.meta<["a", "b"], cpu>>) -> i64
    %n = ft.aten "operator.mul"(%a, %b) : (i64, i64) -> i64
    %v = ft.view(%x, [%n, 4]) : (tensor<?x?x4xf32, #ft.meta<["a", "b"], cpu>>, i64) -> tensor<*x!ft.unknown>
    %r = ft.mm(%v, %w) : (tensor<*x!ft.unknown>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.view(-1, x.size(0) - 1) of (b + 1, b): rows and columns follow, and nothing
// is asked but what -1 needs.

// CHECK-LABEL: module
// CHECK: ft.fact "b >= 1"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x?xf32, #ft.meta<["b + 1", b], cpu>>
module {
  ft.symbol "b" {hint = 4 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<?x?xf32, #ft.meta<["b + 1", "b"], cpu>>) -> tensor<*x!ft.unknown> {
    %a = ft.aten "sym_size.int"(%x, 0) : (tensor<?x?xf32, #ft.meta<["b + 1", "b"], cpu>>) -> i64
    %n = ft.aten "operator.sub"(%a, 1) : (i64) -> i64
    %v = ft.view(%x, [-1, %n]) : (tensor<?x?xf32, #ft.meta<["b + 1", "b"], cpu>>, i64) -> tensor<*x!ft.unknown>
    return %v : tensor<*x!ft.unknown>
  }
}

// -----
// x.t().view(-1)

module {
  ft.symbol "a" {hint = 3 : i64, lower = 2 : i64, source = "x:0"}
  ft.symbol "b" {hint = 4 : i64, lower = 2 : i64, source = "x:1"}
  func.func @forward(%x: tensor<?x?xf32, #ft.meta<["a", "b"], cpu>>) -> tensor<*x!ft.unknown> {
    %t = ft.t(%x) : (tensor<?x?xf32, #ft.meta<["a", "b"], cpu>>) -> tensor<*x!ft.unknown>
    // expected-error @+1 {{spans dims that are apart in memory; use reshape}}
    %v = ft.view(%t, [-1]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %v : tensor<*x!ft.unknown>
  }
}
