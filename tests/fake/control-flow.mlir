// Branches and loops: what their regions see, and what comes out.
//
// RUN: %ft-opt %s --ft-fake-propagate --split-input-file > %t
// RUN: FileCheck %s < %t
// Annotating again changes nothing.
// RUN: %ft-opt %t --ft-fake-propagate --split-input-file | diff %t -

// Branches that agree; the argument of a region is what the operand is.
//
// CHECK-LABEL: @forward
// CHECK: ft.cond(%arg0, %arg1) : (tensor<i1, #ft.meta<cpu>>, tensor<4x3xf32, #ft.meta<strides = [1, 4], cpu>>) -> tensor<4x3xf32, #ft.meta<strides = [1, 4], cpu>>
// CHECK: then (%{{.*}}: tensor<4x3xf32, #ft.meta<strides = [1, 4], cpu>>)
// CHECK: ft.sin({{.*}} -> tensor<4x3xf32, #ft.meta<strides = [1, 4], cpu>>
// CHECK: ft.yield %{{.*}} : tensor<4x3xf32, #ft.meta<strides = [1, 4], cpu>>
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x3xf32, #ft.meta<strides = [1, 4], cpu>>) -> tensor<*x!ft.unknown> {
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x3xf32, #ft.meta<strides = [1, 4], cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %c = ft.cos(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return %y : tensor<*x!ft.unknown>
}

// -----

// A predicate of the program; a branch in a branch; no result.
//
// CHECK-LABEL: @forward
// CHECK: ft.cond(%arg0, %arg1) : (i1, tensor<2xf32, #ft.meta<cpu>>) -> ()
// CHECK: ft.cond({{.*}}) : (tensor<1xi1, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<f32, #ft.meta<cpu>>
func.func @forward(%p: i1, %x: tensor<2xf32, #ft.meta<cpu>>) {
  ft.cond(%p, %x) : (i1, tensor<2xf32, #ft.meta<cpu>>) -> ()
  then (%a: tensor<*x!ft.unknown>) {
    %one = ft.slice(%a, 0, 0, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %q = ft.gt.Scalar(%one, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %y = ft.cond(%q, %a) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    then (%b: tensor<*x!ft.unknown>) {
      %s = ft.sum(%b) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %s : tensor<*x!ft.unknown>
    } else (%b: tensor<*x!ft.unknown>) {
      %m = ft.mean(%b) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %m : tensor<*x!ft.unknown>
    }
    ft.yield
  } else (%a: tensor<*x!ft.unknown>) {
    ft.yield
  }
  return
}

// -----

// What a loop carries is dense and starts at 0: a view is cloned in front.
//
// CHECK-LABEL: @forward
// CHECK: %[[V:.*]] = ft.slice(%arg1{{.*}} -> tensor<4x3xf32, #ft.meta<strides = [6, 1], offset = 2, cpu>>
// CHECK: %[[C:.*]] = ft.clone(%[[V]]) : {{.*}} -> tensor<4x3xf32, #ft.meta<cpu>>
// CHECK: ft.while(%arg0, %[[C]]) captured(%arg2) : {{.*}} -> (tensor<i64, #ft.meta<cpu>>, tensor<4x3xf32, #ft.meta<cpu>>)
// CHECK: cond (%{{.*}}: tensor<i64, #ft.meta<cpu>>, %{{.*}}: tensor<4x3xf32, #ft.meta<cpu>>, %{{.*}}: tensor<3xf32, #ft.meta<cpu>>)
// CHECK: ft.yield %{{.*}} : tensor<i1, #ft.meta<cpu>>
// CHECK: do (%{{.*}}: tensor<i64, #ft.meta<cpu>>, %{{.*}}: tensor<4x3xf32, #ft.meta<cpu>>, %{{.*}}: tensor<3xf32, #ft.meta<cpu>>)
func.func @forward(%i: tensor<i64, #ft.meta<cpu>>, %x: tensor<4x6xf32, #ft.meta<cpu>>, %w: tensor<3xf32, #ft.meta<cpu>>) {
  %v = ft.slice(%x, 1, 2, 5) : (tensor<4x6xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  %n, %y = ft.while(%i, %v) captured(%w) : (tensor<i64, #ft.meta<cpu>>, tensor<*x!ft.unknown>, tensor<3xf32, #ft.meta<cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
  cond (%k: tensor<*x!ft.unknown>, %a: tensor<*x!ft.unknown>, %b: tensor<3xf32, #ft.meta<cpu>>) {
    %lt = ft.lt.Scalar(%k, 5) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %lt : tensor<*x!ft.unknown>
  } do (%k: tensor<*x!ft.unknown>, %a: tensor<*x!ft.unknown>, %b: tensor<3xf32, #ft.meta<cpu>>) {
    %next = ft.add(%k, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %m = ft.mul(%a, %b) : (tensor<*x!ft.unknown>, tensor<3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    ft.yield %next, %m : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
  return
}

// -----

// Slices are row-major; stacked results too, moved to the dim of the scan.
//
// CHECK-LABEL: @forward
// CHECK: ft.scan init(%arg0) over(%arg1) {dim = 1 : i64} : {{.*}} -> (tensor<f32, #ft.meta<cpu>>, tensor<5x6x4xf32, #ft.meta<strides = [4, 20, 1], cpu>>)
// CHECK: do (%{{.*}}: tensor<f32, #ft.meta<cpu>>, %{{.*}}: tensor<4x5xf32, #ft.meta<cpu>>)
// CHECK: ft.yield %{{.*}}, %{{.*}} : tensor<f32, #ft.meta<cpu>>, tensor<5x4xf32, #ft.meta<strides = [1, 5], cpu>>
func.func @forward(%h: tensor<f32, #ft.meta<cpu>>, %x: tensor<4x6x5xf32, #ft.meta<strides = [1, 20, 4], cpu>>) {
  %c, %ys = ft.scan init(%h) over(%x) {dim = 1 : i64} : (tensor<f32, #ft.meta<cpu>>, tensor<4x6x5xf32, #ft.meta<strides = [1, 20, 4], cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
  do (%a: tensor<*x!ft.unknown>, %b: tensor<*x!ft.unknown>) {
    %s = ft.sum(%b) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %n = ft.add(%a, %s) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.t(%b) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %u = ft.clone(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %n, %u : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
  return
}

// -----

// A region may write to what it made.
//
// CHECK-LABEL: @forward
// CHECK: ft.aten "add_.Tensor"({{.*}} -> tensor<2xf32, #ft.meta<cpu>>
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<2xf32, #ft.meta<cpu>>) {
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %c = ft.clone(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %s = ft.aten "add_.Tensor"(%c, %a) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %c = ft.clone(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}
