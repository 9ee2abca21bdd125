// RUN: %ft-opt -ft-autograd -split-input-file %s | FileCheck %s
// Branches and loops: what the backward reads of a region is a result of the
// forward, and the backward is an operation of the same kind.

// One branch keeps a value (the argument of sin), the other gives memory
// without meaning; a branch that does not depend on %w gives zeros.
//
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<2xf32, #ft.meta<cpu>> {{.*}}, %[[P:[a-z0-9]+]]: tensor<i1{{.*}}, %[[X:[a-z0-9]+]]: tensor<2xf32{{.*}}, %[[T:[a-z0-9]+]]: tensor<2xf32{{.*}}"tangent"
// CHECK: %[[F:.*]]:2 = ft.cond(%[[P]], %[[X]], %[[W]])
// CHECK: then
// CHECK: %[[M:.*]] = ft.mul(
// CHECK: %[[S:.*]] = ft.sin(%[[M]])
// CHECK: ft.yield %[[S]], %[[M]]
// CHECK: else
// CHECK: %[[C:.*]] = ft.cos(
// CHECK: %[[E:.*]] = ft.aten "empty.memory_format"([2]
// CHECK: ft.yield %[[C]], %[[E]]
// CHECK: %[[G:.*]] = ft.cond(%[[P]], %[[T]], %[[X]], %[[F]]#1)
// CHECK: then (%[[DY:.*]]: tensor<2xf32, #ft.meta<cpu>>, %[[A:.*]]: tensor<2xf32, #ft.meta<cpu>>, %[[K:.*]]: tensor<2xf32
// CHECK: %[[COS:.*]] = ft.cos(%[[K]])
// CHECK: %[[DM:.*]] = ft.mul(%[[DY]], %[[COS]])
// CHECK: %[[DW:.*]] = ft.mul(%[[DM]], %[[A]])
// CHECK: ft.yield %[[DW]]
// CHECK: else
// CHECK: %[[Z:.*]] = ft.zeros([2]
// CHECK: ft.yield %[[Z]]
// CHECK: return %[[F]]#0, %[[G]]
module {
  func.func @forward(%w: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad},
                     %p: tensor<i1, #ft.meta<cpu>> {ft.kind = "input", ft.target = "p"},
                     %x: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.cond(%p, %x, %w) : (tensor<i1, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    then (%a: tensor<2xf32, #ft.meta<cpu>>, %b: tensor<2xf32, #ft.meta<cpu>>) {
      %m = ft.mul(%a, %b) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      %s = ft.sin(%m) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      ft.yield %s : tensor<2xf32, #ft.meta<cpu>>
    } else (%a: tensor<2xf32, #ft.meta<cpu>>, %b: tensor<2xf32, #ft.meta<cpu>>) {
      %c = ft.cos(%a) : (tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      ft.yield %c : tensor<2xf32, #ft.meta<cpu>>
    }
    return %y : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

// The carried value of each position is stacked; its gradient is carried back,
// and that of the captured %w summed on the way.
//
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<2xf32, #ft.meta<cpu>> {{.*}}, %[[X:[a-z0-9]+]]: tensor<4x2xf32{{.*}}, %[[H:[a-z0-9]+]]: tensor<2xf32{{.*}}, %[[T:[a-z0-9]+]]: tensor<2xf32{{.*}}"tangent"
// CHECK: %[[F:.*]]:2 = ft.scan init(%[[H]]) over(%[[X]]) captured(%[[W]])
// CHECK: do (%[[A:.*]]: tensor<2xf32, #ft.meta<cpu>>, %{{.*}}: tensor<2xf32, #ft.meta<cpu>>, %{{.*}}: tensor<2xf32
// CHECK: %[[N:.*]] = ft.add(
// CHECK: %[[K:.*]] = ft.clone(%[[A]])
// CHECK: ft.yield %[[N]], %[[K]]
// CHECK: %[[Z:.*]] = ft.zeros([2]
// CHECK: %[[G:.*]]:2 = ft.scan init(%[[T]], %[[Z]]) over(%[[F]]#1) captured(%[[W]]) {reverse}
// CHECK: do (%[[D:.*]]: tensor<2xf32, #ft.meta<cpu>>, %[[SUM:.*]]: tensor<2xf32, #ft.meta<cpu>>, %[[KEPT:.*]]: tensor<2xf32, #ft.meta<cpu>>, %[[B:.*]]: tensor<2xf32
// CHECK-DAG: %[[DA:.*]] = ft.mul(%[[D]], %[[B]])
// CHECK-DAG: %[[DB:.*]] = ft.mul(%[[D]], %[[KEPT]])
// CHECK-DAG: %[[NEXT:.*]] = ft.add(%[[SUM]], %[[DB]])
// CHECK: ft.yield %[[DA]], %[[NEXT]]
// CHECK: return %[[F]]#0, %[[G]]#1
module {
  func.func @forward(%w: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad},
                     %x: tensor<4x2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"},
                     %h: tensor<2xf32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "h"})
      -> (tensor<2xf32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.scan init(%h) over(%x) captured(%w) : (tensor<2xf32, #ft.meta<cpu>>, tensor<4x2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
    do (%a: tensor<2xf32, #ft.meta<cpu>>, %s: tensor<2xf32, #ft.meta<cpu>>, %b: tensor<2xf32, #ft.meta<cpu>>) {
      %m = ft.mul(%a, %b) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      %n = ft.add(%m, %s) : (tensor<2xf32, #ft.meta<cpu>>, tensor<2xf32, #ft.meta<cpu>>) -> tensor<2xf32, #ft.meta<cpu>>
      ft.yield %n : tensor<2xf32, #ft.meta<cpu>>
    }
    return %y : tensor<2xf32, #ft.meta<cpu>>
  }
}

// -----

// A loop with a declared bound is a scan over as many positions, which goes on
// where the condition holds and is checked in the end.
//
// CHECK-LABEL: func.func @forward
// CHECK: %[[I:.*]] = ft.arange(8)
// CHECK: %[[F:.*]]:{{.*}} = ft.scan init(%{{.*}}) over(%[[I]]) captured(%{{.*}})
// CHECK: %[[GO:.*]] = ft.gt.Scalar(
// CHECK: ft.cond(%[[GO]],
// CHECK: ft.aten "_assert_async.msg"
// CHECK: ft.scan init({{.*}}{reverse}
module {
  func.func @forward(%w: tensor<f32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad},
                     %x: tensor<f32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<f32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %y = ft.while(%x) captured(%w) {ft.bound = 8 : i64} : (tensor<f32, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>) -> tensor<f32, #ft.meta<cpu>>
    cond (%a: tensor<f32, #ft.meta<cpu>>, %b: tensor<f32, #ft.meta<cpu>>) {
      %go = ft.gt.Scalar(%a, 1) : (tensor<f32, #ft.meta<cpu>>) -> tensor<i1, #ft.meta<cpu>>
      ft.yield %go : tensor<i1, #ft.meta<cpu>>
    } do (%a: tensor<f32, #ft.meta<cpu>>, %b: tensor<f32, #ft.meta<cpu>>) {
      %m = ft.mul(%a, %b) : (tensor<f32, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>) -> tensor<f32, #ft.meta<cpu>>
      ft.yield %m : tensor<f32, #ft.meta<cpu>>
    }
    return %y : tensor<f32, #ft.meta<cpu>>
  }
}

// -----

// A loop that counts from a constant to a constant runs so often in any case.
//
// CHECK-LABEL: func.func @forward
// CHECK: ft.arange(3)
// CHECK: ft.scan
// CHECK-NOT: ft.cond
// CHECK-NOT: _assert_async
// CHECK: ft.scan {{.*}}{reverse}
module {
  func.func @forward(%w: tensor<f32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad},
                     %x: tensor<f32, #ft.meta<cpu>> {ft.kind = "input", ft.target = "x"})
      -> (tensor<f32, #ft.meta<cpu>> {ft.name = "y", ft.role = "output"}) {
    %i = ft.zeros([], dtype = int64) : () -> tensor<i64, #ft.meta<cpu>>
    %n, %y = ft.while(%i, %x) captured(%w) : (tensor<i64, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>) -> (tensor<i64, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>)
    cond (%k: tensor<i64, #ft.meta<cpu>>, %a: tensor<f32, #ft.meta<cpu>>, %b: tensor<f32, #ft.meta<cpu>>) {
      %go = ft.lt.Scalar(%k, 5) : (tensor<i64, #ft.meta<cpu>>) -> tensor<i1, #ft.meta<cpu>>
      ft.yield %go : tensor<i1, #ft.meta<cpu>>
    } do (%k: tensor<i64, #ft.meta<cpu>>, %a: tensor<f32, #ft.meta<cpu>>, %b: tensor<f32, #ft.meta<cpu>>) {
      %next = ft.add(%k, 2) : (tensor<i64, #ft.meta<cpu>>) -> tensor<i64, #ft.meta<cpu>>
      %m = ft.mul(%a, %b) : (tensor<f32, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>) -> tensor<f32, #ft.meta<cpu>>
      ft.yield %next, %m : tensor<i64, #ft.meta<cpu>>, tensor<f32, #ft.meta<cpu>>
    }
    return %y : tensor<f32, #ft.meta<cpu>>
  }
}
