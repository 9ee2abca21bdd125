// RUN: %foretrace inspect %s --kernels | FileCheck %s
// A guard says that s is 4: kernels then have no sizes of the run, also where
// the size is a number that they compute with.

// CHECK: mul_div{{.*}}: {{.*}}, memref<4xf64>, memref<4xf64>{{$}}
module attributes {ft.stage = "fake"} {
  ft.symbol "s" {hint = 4 : i64, lower = 2 : i64, upper = 1048576 : i64}
  ft.fact "s == 4" {cause = "rms_norm", id = "g0", place = "model.mlir:4"}
  func.func @forward(%x: tensor<?xf64, #ft.meta<[s], cpu>> {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (tensor<?xf64, #ft.meta<[s], cpu>> {ft.name = "y", ft.role = "output"}) {
    %0 = ft.mul(%x, %x) : (tensor<?xf64, #ft.meta<[s], cpu>>, tensor<?xf64, #ft.meta<[s], cpu>>) -> tensor<?xf64, #ft.meta<[s], cpu>>
    %1 = ft.div.Scalar(%0, {size = "s"}) : (tensor<?xf64, #ft.meta<[s], cpu>>) -> tensor<?xf64, #ft.meta<[s], cpu>>
    return %1 : tensor<?xf64, #ft.meta<[s], cpu>>
  }
}
