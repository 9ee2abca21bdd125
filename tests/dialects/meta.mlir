// RUN: %ft-opt %s | %ft-opt | FileCheck %s
// The encoding says only what the type does not.

// CHECK: tensor<2x16xf32, #ft.meta<cpu>>
func.func private @contiguous(tensor<2x16xf32, #ft.meta<cpu>>)
// CHECK: tensor<4x3xf32, #ft.meta<strides = [1, 4], offset = 8, cuda:1>>
func.func private @strided(tensor<4x3xf32, #ft.meta<strides = [1, 4], offset = 8, cuda:1>>)
// `cuda` is the first one.
// CHECK: tensor<2xui8, #ft.meta<cuda:0, neg>>
func.func private @device(tensor<2xui8, #ft.meta<cuda, neg>>)
// CHECK: tensor<2xcomplex<f32>, #ft.meta<meta, conj>>
func.func private @conj(tensor<2xcomplex<f32>, #ft.meta<meta, conj>>)
// CHECK: tensor<*x!ft.unknown>
func.func private @unknown(tensor<*x!ft.unknown>)
