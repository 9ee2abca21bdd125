// RUN: %ft-opt -ft-fake-propagate -split-input-file %s | FileCheck %s
// Programs with the fewest guards that they need: no guard keeps a size from
// being 0 or 1 where the program takes that, and what others imply is marked.

// x + ones(5)

// CHECK-LABEL: module
// CHECK: ft.fact "a == 5"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<5xf32, #ft.meta<cpu>>
module {
  ft.symbol "a" {hint = 5 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %o = ft.aten "ones.default"([5]) : () -> tensor<*x!ft.unknown>
    %r = ft.add(%x, %o) : (tensor<?xf32, #ft.meta<["a"], cpu>>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x + 1 of (1, 3): no guard

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x3xf32, #ft.meta<[a], cpu>>
module {
  ft.symbol "a" {hint = 1 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?x3xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.add.Scalar(%x, 1) : (tensor<?x3xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x + y

// CHECK-LABEL: module
// CHECK: ft.fact "a == b"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<[a], cpu>>
module {
  ft.symbol "a" {hint = 5 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 5 : i64, lower = 0 : i64, source = "y:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>, %y: tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.add(%x, %y) : (tensor<?xf32, #ft.meta<["a"], cpu>>, tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.view(-1, 4)

// CHECK-LABEL: module
// CHECK: ft.fact "a % 4 == 0"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x4xf32, #ft.meta<["a//4"], cpu>>
module {
  ft.symbol "a" {hint = 8 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.view(%x, [-1, 4]) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x[1:] + y

// CHECK-LABEL: module
// CHECK: ft.fact "a >= 1"{{.*}}implied_by = ["g1"]
// CHECK: ft.fact "a == b + 1"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<[b], cpu>>
module {
  ft.symbol "a" {hint = 5 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 4 : i64, lower = 0 : i64, source = "y:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>, %y: tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown> {
    %s = ft.slice(%x, 0, 1) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.add(%s, %y) : (tensor<*x!ft.unknown>, tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// cat(x, y) + z

// CHECK-LABEL: module
// CHECK: ft.fact "a + b == c"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<[c], cpu>>
module {
  ft.symbol "a" {hint = 5 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 4 : i64, lower = 0 : i64, source = "y:0"}
  ft.symbol "c" {hint = 9 : i64, lower = 0 : i64, source = "z:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>, %y: tensor<?xf32, #ft.meta<["b"], cpu>>, %z: tensor<?xf32, #ft.meta<["c"], cpu>>) -> tensor<*x!ft.unknown> {
    %s = ft.cat([%x, %y]) : (tensor<?xf32, #ft.meta<["a"], cpu>>, tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.add(%s, %z) : (tensor<*x!ft.unknown>, tensor<?xf32, #ft.meta<["c"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.view(-1, 8) of (4, 6)

// CHECK-LABEL: module
// CHECK: ft.fact "(a*b) % 8 == 0"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x8xf32, #ft.meta<["(a*b)//8"], cpu>>
module {
  ft.symbol "a" {hint = 4 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 6 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<?x?xf32, #ft.meta<["a", "b"], cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.view(%x, [-1, 8]) : (tensor<?x?xf32, #ft.meta<["a", "b"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.chunk(2), halves added

// CHECK-LABEL: module
// CHECK: ft.fact "a >= 2"
// CHECK: ft.fact "a % 2 == 0"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<["(a + 1)//2"], cpu>>
module {
  ft.symbol "a" {hint = 8 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %h:2 = ft.aten "chunk.default"(%x, 2) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    %r = ft.add(%h#0, %h#1) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// max_pool1d(2) + ones(4)

// CHECK-LABEL: module
// CHECK: ft.fact "a >= 1"{{.*}}implied_by = ["g2"]
// CHECK: ft.fact "a >= 2"{{.*}}implied_by = ["g2"]
// CHECK: ft.fact "a//2 == 4"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<1x4xf32, #ft.meta<cpu>>
module {
  ft.symbol "a" {hint = 8 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<1x?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %p = ft.aten "max_pool1d.default"(%x, [2]) : (tensor<1x?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    %o = ft.aten "ones.default"([4]) : () -> tensor<*x!ft.unknown>
    %r = ft.add(%p, %o) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// conv2d 3x3 without padding

// CHECK-LABEL: module
// CHECK: ft.fact "h >= 3"
// CHECK: ft.fact "w >= 3"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<1x8x?x?xf32, #ft.meta<["h - 2", "w - 2"], cpu>>
module {
  ft.symbol "h" {hint = 32 : i64, lower = 0 : i64, source = "x:2"}
  ft.symbol "w" {hint = 32 : i64, lower = 0 : i64, source = "x:3"}
  func.func @forward(%x: tensor<1x3x?x?xf32, #ft.meta<["h", "w"], cpu>>, %k: tensor<8x3x3x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.conv2d(%x, %k) : (tensor<1x3x?x?xf32, #ft.meta<["h", "w"], cpu>>, tensor<8x3x3x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// interpolate(max_pool2d(x, 2), 2) + x

// CHECK-LABEL: module
// CHECK: ft.fact "h >= 1"{{.*}}implied_by = ["g1"]
// CHECK: ft.fact "h >= 2"
// CHECK: ft.fact "h % 2 == 0"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<1x3x?x8xf32, #ft.meta<[h], cpu>>
module {
  ft.symbol "h" {hint = 8 : i64, lower = 0 : i64, source = "x:2"}
  func.func @forward(%x: tensor<1x3x?x8xf32, #ft.meta<["h"], cpu>>) -> tensor<*x!ft.unknown> {
    %p = ft.max_pool2d(%x, [2, 2]) : (tensor<1x3x?x8xf32, #ft.meta<["h"], cpu>>) -> tensor<*x!ft.unknown>
    %u = ft.aten "upsample_nearest2d.vec"(%p, none, [2.0, 2.0]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %r = ft.add(%u, %x) : (tensor<*x!ft.unknown>, tensor<1x3x?x8xf32, #ft.meta<["h"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.unflatten(0, (-1, 2))

// CHECK-LABEL: module
// CHECK: ft.fact "a % 2 == 0"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x2xf32, #ft.meta<["a//2"], cpu>>
module {
  ft.symbol "a" {hint = 8 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.aten "unflatten.int"(%x, 0, [-1, 2]) : (tensor<?xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.reshape(b, a) of (a, b)

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x?xf32, #ft.meta<[b, a], cpu>>
module {
  ft.symbol "a" {hint = 4 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 6 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<?x?xf32, #ft.meta<["a", "b"], cpu>>) -> tensor<*x!ft.unknown> {
    %n = ft.aten "sym_size.int"(%x, 0) : (tensor<?x?xf32, #ft.meta<["a", "b"], cpu>>) -> i64
    %m = ft.aten "sym_size.int"(%x, 1) : (tensor<?x?xf32, #ft.meta<["a", "b"], cpu>>) -> i64
    %r = ft.reshape(%x, [%m, %n]) : (tensor<?x?xf32, #ft.meta<["a", "b"], cpu>>, i64, i64) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// max_pool1d(2, ceil_mode), w = 9

// CHECK-LABEL: module
// CHECK: ft.fact "w >= 1"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<1x?xf32, #ft.meta<["(w + 1)//2"], cpu>>
module {
  ft.symbol "w" {hint = 9 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<1x?xf32, #ft.meta<["w"], cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.aten "max_pool1d.default"(%x, [2], [2], [0], [1], true) : (tensor<1x?xf32, #ft.meta<["w"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x + y[::2]

// CHECK-LABEL: module
// CHECK: ft.fact "a == (b + 1)//2"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?xf32, #ft.meta<[a], cpu>>
module {
  ft.symbol "a" {hint = 4 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 8 : i64, lower = 0 : i64, source = "y:0"}
  func.func @forward(%x: tensor<?xf32, #ft.meta<["a"], cpu>>, %y: tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown> {
    %s = ft.slice(%y, 0, none, none, 2) : (tensor<?xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.add(%x, %s) : (tensor<?xf32, #ft.meta<["a"], cpu>>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.reshape(-1, 20) of (1024, 10)

// CHECK-LABEL: module
// CHECK: ft.fact "a % 2 == 0"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x20xf32, #ft.meta<["a//2"], cpu>>
module {
  ft.symbol "a" {hint = 1024 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?x10xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.reshape(%x, [-1, 20]) : (tensor<?x10xf32, #ft.meta<["a"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.view(b, s, 4, -1) of (b, s, 16): nothing but what -1 needs, which PyTorch
// refuses for a tensor without elements.

// CHECK-LABEL: module
// CHECK: ft.fact "b >= 1"
// CHECK: ft.fact "s >= 1"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x?x16xf32, #ft.meta<[b, s], cpu>>
module {
  ft.symbol "b" {hint = 2 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "s" {hint = 8 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<?x?x16xf32, #ft.meta<["b", "s"], cpu>>) -> tensor<*x!ft.unknown> {
    %n = ft.aten "sym_size.int"(%x, 0) : (tensor<?x?x16xf32, #ft.meta<["b", "s"], cpu>>) -> i64
    %m = ft.aten "sym_size.int"(%x, 1) : (tensor<?x?x16xf32, #ft.meta<["b", "s"], cpu>>) -> i64
    %v = ft.view(%x, [%n, %m, 4, -1]) : (tensor<?x?x16xf32, #ft.meta<["b", "s"], cpu>>, i64, i64) -> tensor<*x!ft.unknown>
    %t = ft.transpose.int(%v, 1, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %r = ft.reshape(%t, [%n, %m, -1]) : (tensor<*x!ft.unknown>, i64, i64) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// The same as a tracer exports it, from 2 up: widened to what the program takes,
// without a guard.

// CHECK-LABEL: module
// CHECK: ft.symbol "b" {{.*}}lower = 1 : i64{{.*}}traced_lower = 2
// CHECK: ft.symbol "s" {{.*}}lower = 1 : i64{{.*}}traced_lower = 2
// CHECK-NEXT: ft.fact "b >= 1" {{.*}}implied_by = []
// CHECK-NEXT: ft.fact "s >= 1" {{.*}}implied_by = []
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x?x16xf32, #ft.meta<[b, s], cpu>>
module {
  ft.symbol "b" {hint = 2 : i64, lower = 0 : i64, source = "x:0", traced_lower = 2 : i64}
  ft.symbol "s" {hint = 8 : i64, lower = 0 : i64, source = "x:1", traced_lower = 2 : i64}
  func.func @forward(%x: tensor<?x?x16xf32, #ft.meta<["b", "s"], cpu>>) -> tensor<*x!ft.unknown> {
    %n = ft.aten "sym_size.int"(%x, 0) : (tensor<?x?x16xf32, #ft.meta<["b", "s"], cpu>>) -> i64
    %m = ft.aten "sym_size.int"(%x, 1) : (tensor<?x?x16xf32, #ft.meta<["b", "s"], cpu>>) -> i64
    %v = ft.view(%x, [%n, %m, 4, -1]) : (tensor<?x?x16xf32, #ft.meta<["b", "s"], cpu>>, i64, i64) -> tensor<*x!ft.unknown>
    %t = ft.transpose.int(%v, 1, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %r = ft.reshape(%t, [%n, %m, -1]) : (tensor<*x!ft.unknown>, i64, i64) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// pos(10, 4)[:s] + x

// CHECK-LABEL: module
// CHECK: ft.fact "s <= 10"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x?x4xf32, #ft.meta<[b, s], cpu>>
module {
  ft.symbol "b" {hint = 2 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "s" {hint = 8 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<?x?x4xf32, #ft.meta<["b", "s"], cpu>>, %p: tensor<10x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %m = ft.aten "sym_size.int"(%x, 1) : (tensor<?x?x4xf32, #ft.meta<["b", "s"], cpu>>) -> i64
    %q = ft.slice(%p, 0, 0, %m) : (tensor<10x4xf32, #ft.meta<cpu>>, i64) -> tensor<*x!ft.unknown>
    %r = ft.add(%x, %q) : (tensor<?x?x4xf32, #ft.meta<["b", "s"], cpu>>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// cache(8, 4)[:n] = x(n, 4), n = 8

// CHECK-LABEL: module
// CHECK: ft.fact "n <= 8"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x4xf32, #ft.meta<["Min(8, n)"], cpu>>
module {
  ft.symbol "n" {hint = 8 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?x4xf32, #ft.meta<["n"], cpu>>, %c: tensor<8x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %m = ft.aten "sym_size.int"(%x, 0) : (tensor<?x4xf32, #ft.meta<["n"], cpu>>) -> i64
    %q = ft.slice(%c, 0, 0, %m) : (tensor<8x4xf32, #ft.meta<cpu>>, i64) -> tensor<*x!ft.unknown>
    %r = ft.copy_(%q, %x) : (tensor<*x!ft.unknown>, tensor<?x4xf32, #ft.meta<["n"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// interpolate(x, 2) + y

// CHECK-LABEL: module
// CHECK: ft.fact "h >= 1"
// CHECK: ft.fact "w >= 1"
// CHECK: ft.fact "H == 2*h"
// CHECK: ft.fact "W == 2*w"
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<1x3x?x?xf32, #ft.meta<[H, W], cpu>>
module {
  ft.symbol "h" {hint = 4 : i64, lower = 0 : i64, source = "x:2"}
  ft.symbol "w" {hint = 5 : i64, lower = 0 : i64, source = "x:3"}
  ft.symbol "H" {hint = 8 : i64, lower = 0 : i64, source = "y:2"}
  ft.symbol "W" {hint = 10 : i64, lower = 0 : i64, source = "y:3"}
  func.func @forward(%x: tensor<1x3x?x?xf32, #ft.meta<["h", "w"], cpu>>, %y: tensor<1x3x?x?xf32, #ft.meta<["H", "W"], cpu>>) -> tensor<*x!ft.unknown> {
    %u = ft.aten "upsample_nearest2d.vec"(%x, none, [2.0, 2.0]) : (tensor<1x3x?x?xf32, #ft.meta<["h", "w"], cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.add(%u, %y) : (tensor<*x!ft.unknown>, tensor<1x3x?x?xf32, #ft.meta<["H", "W"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.reshape(-1, 2560) of (a, b, 2560)

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x2560xf32, #ft.meta<["a*b"], cpu>>
module {
  ft.symbol "a" {hint = 2 : i64, lower = 0 : i64, source = "x:0"}
  ft.symbol "b" {hint = 3 : i64, lower = 0 : i64, source = "x:1"}
  func.func @forward(%x: tensor<?x?x2560xf32, #ft.meta<["a", "b"], cpu>>) -> tensor<*x!ft.unknown> {
    %r = ft.reshape(%x, [-1, 2560]) : (tensor<?x?x2560xf32, #ft.meta<["a", "b"], cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}

// -----
// x.flatten() @ w of heads

// CHECK-LABEL: module
// CHECK-NOT: ft.fact
// CHECK: return {{.*}} : tensor<?x5xf32, #ft.meta<[b], cpu>>
module {
  ft.symbol "b" {hint = 2 : i64, lower = 0 : i64, source = "x:0"}
  func.func @forward(%x: tensor<?x8x4xf32, #ft.meta<["b"], cpu>>, %w: tensor<32x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown> {
    %f = ft.flatten.using_ints(%x, 1) : (tensor<?x8x4xf32, #ft.meta<["b"], cpu>>) -> tensor<*x!ft.unknown>
    %r = ft.mm(%f, %w) : (tensor<*x!ft.unknown>, tensor<32x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    return %r : tensor<*x!ft.unknown>
  }
}
