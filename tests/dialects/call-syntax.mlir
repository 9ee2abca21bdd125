// RUN: %ft-opt %s | %ft-opt | FileCheck %s
// Calls print as the ATen call: arguments in schema order, those equal to their
// default left out, the ones behind a gap by name.

// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<2x64xf32, #ft.meta<cpu>>,
                 %w: tensor<64xf32, #ft.meta<cpu>>,
                 %i: tensor<3xi64, #ft.meta<cpu>>) {
  // CHECK: ft.aten "add.Tensor"(%{{.*}}, %{{.*}}) :
  %0 = ft.aten "add.Tensor"(%x, %w, alpha = 1) : (tensor<2x64xf32, #ft.meta<cpu>>, tensor<64xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  // CHECK: ft.aten "add.Tensor"(%{{.*}}, %{{.*}}, alpha = -2.5) :
  %1 = ft.aten "add.Tensor"(%x, %w, alpha = -2.5) : (tensor<2x64xf32, #ft.meta<cpu>>, tensor<64xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  // CHECK: "zeros.default"([2, 3], dtype = bfloat16, device = #ft.device<cuda:0>)
  %2 = ft.aten "zeros.default"([2, 3], dtype = bfloat16, device = #ft.device<cuda:0>) : () -> tensor<*x!ft.unknown>
  // CHECK: ft.aten "index.Tensor"(%{{.*}}, [none, %{{.*}}]) :
  %3 = ft.aten "index.Tensor"(%x, [none, %i]) : (tensor<2x64xf32, #ft.meta<cpu>>, tensor<3xi64, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  // CHECK: %relu = ft.aten "relu.default"(%{{.*}}) {ft.name = "relu"} :
  %4 = ft.aten "relu.default"(%x) {ft.name = "relu"} : (tensor<2x64xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  // CHECK: "clamp.default"(%{{.*}}, inf)
  %5 = ft.aten "clamp.default"(%x, inf) : (tensor<2x64xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  return
}
