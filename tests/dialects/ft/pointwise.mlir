// Elementwise operations: the example of each op in FtPointwise.td, read, printed and
// read again.
//
// RUN: %ft-opt %s > %t
// RUN: %ft-opt %t | diff %t -
// RUN: FileCheck %s < %t

// CHECK-LABEL: @abs(
// CHECK: ft.abs(
func.func @abs(%x: tensor<4xf32>) {
  %y = ft.abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @add_(
// CHECK: ft.add_(
func.func @add_(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = ft.add_(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @add(
// CHECK: ft.add(
func.func @add(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  %y = ft.add(%a, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @add_Scalar(
// CHECK: ft.add.Scalar(
func.func @add_Scalar(%x: tensor<4xf32>) {
  %y = ft.add.Scalar(%x, 2) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @bitwise_and(
// CHECK: ft.bitwise_and(
func.func @bitwise_and(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  %y = ft.bitwise_and(%a, %b) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @bitwise_not(
// CHECK: ft.bitwise_not(
func.func @bitwise_not(%x: tensor<4xi1>) {
  %y = ft.bitwise_not(%x) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @bitwise_or(
// CHECK: ft.bitwise_or(
func.func @bitwise_or(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  %y = ft.bitwise_or(%a, %b) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @clamp(
// CHECK: ft.clamp(
func.func @clamp(%x: tensor<4xf32>) {
  %y = ft.clamp(%x, 0, 6) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @cos(
// CHECK: ft.cos(
func.func @cos(%x: tensor<4xf32>) {
  %y = ft.cos(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @div_(
// CHECK: ft.div_(
func.func @div_(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = ft.div_(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @div(
// CHECK: ft.div(
func.func @div(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  %y = ft.div(%a, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @div_Scalar(
// CHECK: ft.div.Scalar(
func.func @div_Scalar(%x: tensor<4xf32>) {
  %y = ft.div.Scalar(%x, 2) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @div_Tensor_mode(
// CHECK: ft.div.Tensor_mode(
func.func @div_Tensor_mode(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %y = ft.div.Tensor_mode(%a, %b, rounding_mode = "floor")
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @elu(
// CHECK: ft.elu(
func.func @elu(%x: tensor<4xf32>) {
  %y = ft.elu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @eq(
// CHECK: ft.eq(
func.func @eq(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %y = ft.eq(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @eq_Scalar(
// CHECK: ft.eq.Scalar(
func.func @eq_Scalar(%x: tensor<4xf32>) {
  %y = ft.eq.Scalar(%x, 0) : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @erf(
// CHECK: ft.erf(
func.func @erf(%x: tensor<4xf32>) {
  %y = ft.erf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @exp(
// CHECK: ft.exp(
func.func @exp(%x: tensor<4xf32>) {
  %y = ft.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @ge(
// CHECK: ft.ge(
func.func @ge(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %y = ft.ge(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @ge_Scalar(
// CHECK: ft.ge.Scalar(
func.func @ge_Scalar(%x: tensor<4xf32>) {
  %y = ft.ge.Scalar(%x, 0) : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @gelu(
// CHECK: ft.gelu(
func.func @gelu(%x: tensor<4xf32>) {
  %y = ft.gelu(%x, approximate = "tanh") : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @gt(
// CHECK: ft.gt(
func.func @gt(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %y = ft.gt(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @gt_Scalar(
// CHECK: ft.gt.Scalar(
func.func @gt_Scalar(%x: tensor<4xf32>) {
  %y = ft.gt.Scalar(%x, 0) : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @hardsigmoid(
// CHECK: ft.hardsigmoid(
func.func @hardsigmoid(%x: tensor<4xf32>) {
  %y = ft.hardsigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @hardswish_(
// CHECK: ft.hardswish_(
func.func @hardswish_(%x: tensor<4xf32>) {
  %r = ft.hardswish_(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @hardswish(
// CHECK: ft.hardswish(
func.func @hardswish(%x: tensor<4xf32>) {
  %y = ft.hardswish(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @hardtanh(
// CHECK: ft.hardtanh(
func.func @hardtanh(%x: tensor<4xf32>) {
  %y = ft.hardtanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @le(
// CHECK: ft.le(
func.func @le(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %y = ft.le(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @le_Scalar(
// CHECK: ft.le.Scalar(
func.func @le_Scalar(%x: tensor<4xf32>) {
  %y = ft.le.Scalar(%x, 0) : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @leaky_relu(
// CHECK: ft.leaky_relu(
func.func @leaky_relu(%x: tensor<4xf32>) {
  %y = ft.leaky_relu(%x, 0.2) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @log1p(
// CHECK: ft.log1p(
func.func @log1p(%x: tensor<4xf32>) {
  %y = ft.log1p(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @log(
// CHECK: ft.log(
func.func @log(%x: tensor<4xf32>) {
  %y = ft.log(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @logical_and(
// CHECK: ft.logical_and(
func.func @logical_and(%a: tensor<4xi1>, %b: tensor<4xi1>) {
  %y = ft.logical_and(%a, %b) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @logical_not(
// CHECK: ft.logical_not(
func.func @logical_not(%x: tensor<4xf32>) {
  %y = ft.logical_not(%x) : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @lt(
// CHECK: ft.lt(
func.func @lt(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %y = ft.lt(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @lt_Scalar(
// CHECK: ft.lt.Scalar(
func.func @lt_Scalar(%x: tensor<4xf32>) {
  %y = ft.lt.Scalar(%x, 0) : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @masked_fill_Scalar(
// CHECK: ft.masked_fill.Scalar(
func.func @masked_fill_Scalar(%x: tensor<4xf32>, %m: tensor<4xi1>) {
  %y = ft.masked_fill.Scalar(%x, %m, 0.0)
      : (tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @maximum(
// CHECK: ft.maximum(
func.func @maximum(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  %y = ft.maximum(%a, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @minimum(
// CHECK: ft.minimum(
func.func @minimum(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  %y = ft.minimum(%a, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @mul_(
// CHECK: ft.mul_(
func.func @mul_(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = ft.mul_(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @mul(
// CHECK: ft.mul(
func.func @mul(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  %y = ft.mul(%a, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @mul_Scalar(
// CHECK: ft.mul.Scalar(
func.func @mul_Scalar(%x: tensor<4xf32>) {
  %y = ft.mul.Scalar(%x, 2) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @ne(
// CHECK: ft.ne(
func.func @ne(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  %y = ft.ne(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @ne_Scalar(
// CHECK: ft.ne.Scalar(
func.func @ne_Scalar(%x: tensor<4xf32>) {
  %y = ft.ne.Scalar(%x, 0) : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @neg(
// CHECK: ft.neg(
func.func @neg(%x: tensor<4xf32>) {
  %y = ft.neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @pow_Tensor_Scalar(
// CHECK: ft.pow.Tensor_Scalar(
func.func @pow_Tensor_Scalar(%x: tensor<4xf32>) {
  %y = ft.pow.Tensor_Scalar(%x, 2) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @pow_Tensor_Tensor(
// CHECK: ft.pow.Tensor_Tensor(
func.func @pow_Tensor_Tensor(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  %y = ft.pow.Tensor_Tensor(%a, %b)
      : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @reciprocal(
// CHECK: ft.reciprocal(
func.func @reciprocal(%x: tensor<4xf32>) {
  %y = ft.reciprocal(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @relu_(
// CHECK: ft.relu_(
func.func @relu_(%x: tensor<4xf32>) {
  %r = ft.relu_(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @relu(
// CHECK: ft.relu(
func.func @relu(%x: tensor<4xf32>) {
  %y = ft.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @rsqrt(
// CHECK: ft.rsqrt(
func.func @rsqrt(%x: tensor<4xf32>) {
  %y = ft.rsqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @rsub_Scalar(
// CHECK: ft.rsub.Scalar(
func.func @rsub_Scalar(%x: tensor<4xf32>) {
  %y = ft.rsub.Scalar(%x, 2) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @sigmoid(
// CHECK: ft.sigmoid(
func.func @sigmoid(%x: tensor<4xf32>) {
  %y = ft.sigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @silu_(
// CHECK: ft.silu_(
func.func @silu_(%x: tensor<4xf32>) {
  %r = ft.silu_(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @silu(
// CHECK: ft.silu(
func.func @silu(%x: tensor<4xf32>) {
  %y = ft.silu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @sin(
// CHECK: ft.sin(
func.func @sin(%x: tensor<4xf32>) {
  %y = ft.sin(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @softplus(
// CHECK: ft.softplus(
func.func @softplus(%x: tensor<4xf32>) {
  %y = ft.softplus(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @sqrt(
// CHECK: ft.sqrt(
func.func @sqrt(%x: tensor<4xf32>) {
  %y = ft.sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @square(
// CHECK: ft.square(
func.func @square(%x: tensor<4xf32>) {
  %y = ft.square(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @sub_(
// CHECK: ft.sub_(
func.func @sub_(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = ft.sub_(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @sub(
// CHECK: ft.sub(
func.func @sub(%a: tensor<2x4xf32>, %b: tensor<4xf32>) {
  %y = ft.sub(%a, %b) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: @sub_Scalar(
// CHECK: ft.sub.Scalar(
func.func @sub_Scalar(%x: tensor<4xf32>) {
  %y = ft.sub.Scalar(%x, 2) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @tanh(
// CHECK: ft.tanh(
func.func @tanh(%x: tensor<4xf32>) {
  %y = ft.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @where_ScalarOther(
// CHECK: ft.where.ScalarOther(
func.func @where_ScalarOther(%c: tensor<4xi1>, %a: tensor<4xf32>) {
  %y = ft.where.ScalarOther(%c, %a, 0.0)
      : (tensor<4xi1>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @where_self(
// CHECK: ft.where.self(
func.func @where_self(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
  %y = ft.where.self(%c, %a, %b)
      : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
