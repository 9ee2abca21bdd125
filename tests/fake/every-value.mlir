// After propagation no value is without rank and dtype: results, what regions see and yield, results of the function.
//
// RUN: %ft-opt %s --ft-fake-propagate | FileCheck %s --check-prefix=KNOWN --implicit-check-not='!ft.unknown' --implicit-check-not='tensor<*'
// KNOWN: func.func @forward(
// KNOWN: ft.cond
// KNOWN: ft.while
// KNOWN: ft.scan
// KNOWN: return
//
// RUN: %foretrace inspect %s --stage fake --json | FileCheck %s --check-prefix=VALUES --implicit-check-not=null --implicit-check-not=unknown
// VALUES: "stage": "fake"
// VALUES: "dtype": "float32"

module {
  func.func @forward(%p: tensor<i1, #ft.meta<cpu>> {ft.kind = "input", ft.name = "p", ft.target = "p"},
                     %i: tensor<i64, #ft.meta<cpu>> {ft.kind = "input", ft.name = "i", ft.target = "i"},
                     %x: tensor<4x3xf32, #ft.meta<cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<*x!ft.unknown> {ft.role = "output", ft.name = "y"}, tensor<*x!ft.unknown> {ft.role = "output", ft.name = "z"}) {
    %c = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    then (%a: tensor<*x!ft.unknown>) {
      %t = ft.t(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      %s = ft.mm(%a, %t) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %s : tensor<*x!ft.unknown>
    } else (%a: tensor<*x!ft.unknown>) {
      %o = ft.aten "ones.default"([4, 4]) : () -> tensor<*x!ft.unknown>
      ft.yield %o : tensor<*x!ft.unknown>
    }
    %n, %w = ft.while(%i, %c) captured(%x) : (tensor<i64, #ft.meta<cpu>>, tensor<*x!ft.unknown>, tensor<4x3xf32, #ft.meta<cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    cond (%k: tensor<*x!ft.unknown>, %a: tensor<*x!ft.unknown>, %b: tensor<4x3xf32, #ft.meta<cpu>>) {
      %lt = ft.lt.Scalar(%k, 5) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %lt : tensor<*x!ft.unknown>
    } do (%k: tensor<*x!ft.unknown>, %a: tensor<*x!ft.unknown>, %b: tensor<4x3xf32, #ft.meta<cpu>>) {
      %next = ft.add(%k, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      %m = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %next, %m : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
    }
    %top = ft.aten "select.int"(%w, 0, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %h, %ys = ft.scan init(%top) over(%w) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
    do (%a: tensor<*x!ft.unknown>, %b: tensor<*x!ft.unknown>) {
      %m = ft.mul(%a, %b) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      %v = ft.sum(%m) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
      ft.yield %m, %v : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
    }
    return %h, %ys : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}

// Where that cannot be, the module is refused by name and nothing is lowered. An argument of which nothing is said:
//
// RUN: sed 's/tensor<4x3xf32, #ft.meta<cpu>>/tensor<*x!ft.unknown>/g' %s > %t.argument.mlir
// RUN: %exits 1 %foretrace compile %t.argument.mlir -o %t.argument 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: test ! -e %t.argument.so
// ARGUMENT: error[FT0107]: argument 2 of @forward has neither a layout nor a declared one
//
// Branches of different rank, and of different dtype:
//
// RUN: sed 's/"ones.default"(\[4, 4\])/"ones.default"([4])/' %s > %t.rank.mlir
// RUN: %exits 1 %foretrace inspect %t.rank.mlir --stage lower 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error[FT0302]: the branches of ft.cond do not agree in result 0: {{.*}}float32 [4, 4] cpu{{.*}}float32 [4] cpu: their ranks differ
// RUN: sed 's/"ones.default"(\[4, 4\])/"ones.default"([4, 4], dtype = float64)/' %s > %t.dtype.mlir
// RUN: %exits 1 %foretrace inspect %t.dtype.mlir --stage lower 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: error[FT0303]: the branches of ft.cond do not agree in result 0: {{.*}}float32 [4, 4] cpu{{.*}}float64 [4, 4] cpu: their dtypes differ
//
// An operator whose results no rule tells, in a loop:
//
// RUN: sed 's/ft.sin(%a)/ft.custom "demo::scale"(%a, 2.0)/' %s > %t.rule.mlir
// RUN: %exits 3 %foretrace inspect %t.rule.mlir --stage lower 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: demo::scale
