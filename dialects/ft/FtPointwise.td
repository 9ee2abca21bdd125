//===- FtPointwise.td - Elementwise operations -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtCall.td"

class Ft_PointwiseCall<string opMnemonic> : Ft_Call<opMnemonic> {
  let strides = kElementwiseStrides;
  let device = kOneDevice;
  let recompute = kCheap;
}

/// y = f(self)
class Ft_UnaryCall<string opMnemonic> : Ft_PointwiseCall<opMnemonic> {
  let constraints = ["integers and bools give the default float dtype"];
  let example = "%y = ft." # opMnemonic #
                "(%x) : (tensor<4xf32>) -> tensor<4xf32>";
}

/// y = f(self, other) of two tensors
class Ft_BinaryCall<string opMnemonic> : Ft_PointwiseCall<opMnemonic> {
  let constraints = ["self and other broadcast",
                     "their dtypes promote to one"];
  let example = "%y = ft." # opMnemonic # "(%a, %b) : (tensor<2x4xf32>, "
                "tensor<4xf32>) -> tensor<2x4xf32>";
}

/// y = f(self, number)
class Ft_ScalarCall<string opMnemonic> : Ft_PointwiseCall<opMnemonic> {
  let constraints = ["the number changes the dtype only if its category "
                     "(bool, integer, floating, complex) is higher"];
  let example = "%y = ft." # opMnemonic #
                "(%x, 2) : (tensor<4xf32>) -> tensor<4xf32>";
}

/// A comparison gives bool and has no gradient.
class Ft_CompareCall<string opMnemonic> : Ft_PointwiseCall<opMnemonic> {
  let constraints = ["self and other broadcast",
                     "their dtypes promote to one, in which they are compared"];
  let gradient = kNoGradient # "the result is bool";
  let example = "%y = ft." # opMnemonic # "(%a, %b) : (tensor<4xf32>, "
                "tensor<4xf32>) -> tensor<4xi1>";
}
class Ft_CompareScalarCall<string opMnemonic> : Ft_CompareCall<opMnemonic> {
  let constraints = ["the number and self's dtype promote to one"];
  let example = "%y = ft." # opMnemonic #
                "(%x, 0) : (tensor<4xf32>) -> tensor<4xi1>";
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Ft_AddOp : Ft_BinaryCall<"add"> {
  let summary = "sum";
  let semantics = "self + alpha · other.";
  let gradient =
      "d self = dy, d other = alpha · dy; each summed over what was "
      "broadcast.";
}

def Ft_SubOp : Ft_BinaryCall<"sub"> {
  let summary = "difference";
  let semantics = "self − alpha · other; bools have none.";
  let gradient =
      "d self = dy, d other = −alpha · dy; each summed over what was "
      "broadcast.";
}

def Ft_MulOp : Ft_BinaryCall<"mul"> {
  let summary = "product";
  let semantics = "self · other.";
  let gradient =
      "d self = dy · other, d other = dy · self; each summed over what was "
      "broadcast.";
}

def Ft_DivOp : Ft_BinaryCall<"div"> {
  let summary = "quotient";
  let semantics = "self / other; integers give floats.";
  let gradient = "d self = dy / other, d other = −dy · self / other².";
}

def Ft_DivTensorModeOp : Ft_BinaryCall<"div.Tensor_mode"> {
  let summary = "quotient, rounded";
  let semantics =
      "self / other, with rounding_mode \"trunc\" toward zero, with \"floor\" "
      "down.";
  let gradient = "none through a rounding; without one that of div.";
  let example =
      "%y = ft.div.Tensor_mode(%a, %b, rounding_mode = \"floor\") : "
      "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
}

def Ft_AddScalarOp : Ft_ScalarCall<"add.Scalar"> {
  let summary = "sum with a number";
  let semantics = "self + alpha · other.";
  let gradient = "dy.";
}

def Ft_SubScalarOp : Ft_ScalarCall<"sub.Scalar"> {
  let summary = "difference to a number";
  let semantics = "self − alpha · other.";
  let gradient = "dy.";
}

def Ft_MulScalarOp : Ft_ScalarCall<"mul.Scalar"> {
  let summary = "product with a number";
  let semantics = "self · other.";
  let gradient = "dy · other.";
}

def Ft_DivScalarOp : Ft_ScalarCall<"div.Scalar"> {
  let summary = "quotient by a number";
  let semantics = "self / other; integers give floats.";
  let gradient = "dy / other.";
}

def Ft_RsubScalarOp : Ft_ScalarCall<"rsub.Scalar"> {
  let summary = "number minus tensor";
  let semantics = "other − alpha · self.";
  let gradient = "−alpha · dy.";
}

def Ft_PowTensorScalarOp : Ft_ScalarCall<"pow.Tensor_Scalar"> {
  let summary = "power with a number as exponent";
  let semantics =
      "self ** exponent; 0 ** 0 is 1; a negative integer exponent of "
      "integers is an error.";
  let gradient = "exponent · self ** (exponent − 1) · dy; 0 for exponent 0.";
}

def Ft_PowTensorTensorOp : Ft_BinaryCall<"pow.Tensor_Tensor"> {
  let summary = "power";
  let semantics = "self ** exponent, elementwise.";
  let gradient =
      "d self = exponent · self ** (exponent − 1) · dy, d exponent = y · ln "
      "self · dy (0 where self and y are 0).";
}

def Ft_NegOp : Ft_UnaryCall<"neg"> {
  let summary = "negation";
  let semantics = "−self; bools have none.";
  let constraints = [
      "self is not bool"];
  let gradient = "−dy.";
}

def Ft_ReciprocalOp : Ft_UnaryCall<"reciprocal"> {
  let summary = "reciprocal";
  let semantics = "1 / self.";
  let gradient = "−y² · dy.";
}

def Ft_SquareOp : Ft_UnaryCall<"square"> {
  let summary = "square";
  let semantics = "self · self.";
  let constraints = [
      "the dtype is that of self; bools give i64"];
  let gradient = "2 · self · dy.";
}

def Ft_SqrtOp : Ft_UnaryCall<"sqrt"> {
  let summary = "square root";
  let semantics = "√self; NaN below zero.";
  let gradient = "dy / (2 · y).";
}

def Ft_RsqrtOp : Ft_UnaryCall<"rsqrt"> {
  let summary = "reciprocal square root";
  let semantics = "1 / √self.";
  let gradient = "−y³ / 2 · dy.";
}

def Ft_ExpOp : Ft_UnaryCall<"exp"> {
  let summary = "exponential";
  let semantics = "e ** self.";
  let gradient = "y · dy.";
}

def Ft_LogOp : Ft_UnaryCall<"log"> {
  let summary = "natural logarithm";
  let semantics = "ln self; −∞ at zero, NaN below.";
  let gradient = "dy / self.";
}

def Ft_Log1pOp : Ft_UnaryCall<"log1p"> {
  let summary = "logarithm of one plus";
  let semantics = "ln(1 + self), exact near zero.";
  let gradient = "dy / (1 + self).";
}

def Ft_AbsOp : Ft_UnaryCall<"abs"> {
  let summary = "absolute value";
  let semantics = "|self|; of complex numbers the modulus, in floats.";
  let constraints = [
      "the dtype is that of self; complex gives the floats of its parts"];
  let gradient = "sign(self) · dy; 0 at zero.";
}

def Ft_SinOp : Ft_UnaryCall<"sin"> {
  let summary = "sine";
  let semantics = "sin self.";
  let gradient = "cos(self) · dy.";
}

def Ft_CosOp : Ft_UnaryCall<"cos"> {
  let summary = "cosine";
  let semantics = "cos self.";
  let gradient = "−sin(self) · dy.";
}

def Ft_ErfOp : Ft_UnaryCall<"erf"> {
  let summary = "error function";
  let semantics = "2/√π ∫₀^self exp(−t²) dt.";
  let gradient = "2/√π · exp(−self²) · dy.";
}

def Ft_TanhOp : Ft_UnaryCall<"tanh"> {
  let summary = "hyperbolic tangent";
  let semantics = "tanh self.";
  let gradient = "(1 − y²) · dy.";
}

def Ft_MaximumOp : Ft_BinaryCall<"maximum"> {
  let summary = "larger of two";
  let semantics = "max(self, other); NaN wins.";
  let gradient = "to the larger; half to each where equal.";
}

def Ft_MinimumOp : Ft_BinaryCall<"minimum"> {
  let summary = "smaller of two";
  let semantics = "min(self, other); NaN wins.";
  let gradient = "to the smaller; half to each where equal.";
}

def Ft_ClampOp : Ft_PointwiseCall<"clamp"> {
  let summary = "element held within two bounds";
  let semantics = "min(max(self, min), max); NaN stays.";
  let constraints = [
      "min or max is given"];
  let gradient = "dy where min ≤ self ≤ max, else 0.";
  let example = "%y = ft.clamp(%x, 0, 6) : (tensor<4xf32>) -> tensor<4xf32>";
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

def Ft_ReluOp : Ft_UnaryCall<"relu"> {
  let summary = "rectifier";
  let semantics = "max(self, 0); NaN stays.";
  let constraints = [
      "self is not bool"];
  let gradient = "dy where y > 0, else 0.";
}

def Ft_SigmoidOp : Ft_UnaryCall<"sigmoid"> {
  let summary = "logistic function";
  let semantics = "1 / (1 + exp(−self)).";
  let gradient = "y · (1 − y) · dy.";
}

def Ft_GeluOp : Ft_PointwiseCall<"gelu"> {
  let summary = "Gaussian error linear unit";
  let semantics =
      "self · Φ(self); approximate = \"tanh\" uses self / 2 · (1 + tanh(√(2/π) "
      "· (self + 0.044715 · self³))).";
  let constraints = [
      "self is floating",
      "approximate is \"none\" or \"tanh\""];
  let gradient =
      "(Φ(self) + self · φ(self)) · dy, or the derivative of the "
      "approximation.";
  let example =
      "%y = ft.gelu(%x, approximate = \"tanh\") : (tensor<4xf32>) -> "
      "tensor<4xf32>";
}

def Ft_SiluOp : Ft_UnaryCall<"silu"> {
  let summary = "product with the logistic function";
  let semantics = "self · sigmoid(self).";
  let constraints = [
      "self is floating"];
  let gradient = "s · (1 + self · (1 − s)) · dy with s = sigmoid(self).";
}

def Ft_EluOp : Ft_PointwiseCall<"elu"> {
  let summary = "exponential linear unit";
  let semantics =
      "scale · self where self > 0, else scale · alpha · (exp(input_scale · "
      "self) − 1).";
  let constraints = [
      "self is floating"];
  let gradient =
      "scale · dy, or scale · input_scale · alpha · exp(input_scale · self) "
      "· dy.";
  let example = "%y = ft.elu(%x) : (tensor<4xf32>) -> tensor<4xf32>";
}

def Ft_LeakyReluOp : Ft_PointwiseCall<"leaky_relu"> {
  let summary = "rectifier with a slope below zero";
  let semantics = "self where self > 0, else negative_slope · self.";
  let constraints = [
      "self is floating"];
  let gradient = "dy, or negative_slope · dy.";
  let example =
      "%y = ft.leaky_relu(%x, 0.2) : (tensor<4xf32>) -> tensor<4xf32>";
}

def Ft_HardswishOp : Ft_UnaryCall<"hardswish"> {
  let summary = "product with a piecewise linear step";
  let semantics = "self · min(max(self + 3, 0), 6) / 6.";
  let constraints = [
      "self is floating"];
  let gradient = "0 below −3, dy above 3, (self / 3 + 1/2) · dy between.";
}

def Ft_HardsigmoidOp : Ft_UnaryCall<"hardsigmoid"> {
  let summary = "piecewise linear step";
  let semantics = "min(max(self + 3, 0), 6) / 6.";
  let constraints = [
      "self is floating"];
  let gradient = "dy / 6 for −3 < self < 3, else 0.";
}

def Ft_HardtanhOp : Ft_PointwiseCall<"hardtanh"> {
  let summary = "element held within two numbers";
  let semantics = "min(max(self, min_val), max_val).";
  let constraints = [
      "min_val ≤ max_val, self is not bool"];
  let gradient = "dy for min_val < self < max_val, else 0.";
  let example = "%y = ft.hardtanh(%x) : (tensor<4xf32>) -> tensor<4xf32>";
}

def Ft_SoftplusOp : Ft_PointwiseCall<"softplus"> {
  let summary = "smooth rectifier";
  let semantics =
      "ln(1 + exp(beta · self)) / beta; self itself where beta · self > "
      "threshold.";
  let constraints = [
      "self is floating"];
  let gradient = "sigmoid(beta · self) · dy, or dy beyond the threshold.";
  let example = "%y = ft.softplus(%x) : (tensor<4xf32>) -> tensor<4xf32>";
}

//===----------------------------------------------------------------------===//
// Comparisons and logic
//===----------------------------------------------------------------------===//

def Ft_EqOp : Ft_CompareCall<"eq"> {
  let summary = "equal";
  let semantics = "self = other; NaN equals nothing.";
}

def Ft_EqScalarOp : Ft_CompareScalarCall<"eq.Scalar"> {
  let summary = "equal to a number";
  let semantics = "self = other; NaN equals nothing.";
}

def Ft_NeOp : Ft_CompareCall<"ne"> {
  let summary = "different";
  let semantics = "self ≠ other; NaN differs from all.";
}

def Ft_NeScalarOp : Ft_CompareScalarCall<"ne.Scalar"> {
  let summary = "different to a number";
  let semantics = "self ≠ other; NaN differs from all.";
}

def Ft_LtOp : Ft_CompareCall<"lt"> {
  let summary = "less";
  let semantics = "self < other.";
}

def Ft_LtScalarOp : Ft_CompareScalarCall<"lt.Scalar"> {
  let summary = "less than a number";
  let semantics = "self < other.";
}

def Ft_LeOp : Ft_CompareCall<"le"> {
  let summary = "less or equal";
  let semantics = "self ≤ other.";
}

def Ft_LeScalarOp : Ft_CompareScalarCall<"le.Scalar"> {
  let summary = "less or equal to a number";
  let semantics = "self ≤ other.";
}

def Ft_GtOp : Ft_CompareCall<"gt"> {
  let summary = "greater";
  let semantics = "self > other.";
}

def Ft_GtScalarOp : Ft_CompareScalarCall<"gt.Scalar"> {
  let summary = "greater than a number";
  let semantics = "self > other.";
}

def Ft_GeOp : Ft_CompareCall<"ge"> {
  let summary = "greater or equal";
  let semantics = "self ≥ other.";
}

def Ft_GeScalarOp : Ft_CompareScalarCall<"ge.Scalar"> {
  let summary = "greater or equal to a number";
  let semantics = "self ≥ other.";
}

def Ft_BitwiseAndOp : Ft_BinaryCall<"bitwise_and"> {
  let summary = "and of the bits";
  let semantics = "self & other; of bools the logical and.";
  let constraints = [
      "self and other broadcast",
      "both are integers or bools"];
  let gradient = "none: integers and bools have none.";
  let example =
      "%y = ft.bitwise_and(%a, %b) : (tensor<4xi1>, tensor<4xi1>) -> "
      "tensor<4xi1>";
}

def Ft_BitwiseOrOp : Ft_BinaryCall<"bitwise_or"> {
  let summary = "or of the bits";
  let semantics = "self | other; of bools the logical or.";
  let constraints = [
      "self and other broadcast",
      "both are integers or bools"];
  let gradient = "none: integers and bools have none.";
  let example =
      "%y = ft.bitwise_or(%a, %b) : (tensor<4xi1>, tensor<4xi1>) -> "
      "tensor<4xi1>";
}

def Ft_BitwiseNotOp : Ft_PointwiseCall<"bitwise_not"> {
  let summary = "complement of the bits";
  let semantics = "~self; of bools the logical not.";
  let constraints = [
      "self is integer or bool"];
  let gradient = "none: integers and bools have none.";
  let example = "%y = ft.bitwise_not(%x) : (tensor<4xi1>) -> tensor<4xi1>";
}

def Ft_LogicalNotOp : Ft_PointwiseCall<"logical_not"> {
  let summary = "whether an element is zero";
  let semantics = "self = 0.";
  let constraints = [
      "none: every dtype is taken"];
  let gradient = "none: the result is bool.";
  let example = "%y = ft.logical_not(%x) : (tensor<4xf32>) -> tensor<4xi1>";
}

def Ft_LogicalAndOp : Ft_PointwiseCall<"logical_and"> {
  let summary = "whether both are nonzero";
  let semantics = "self ≠ 0 and other ≠ 0.";
  let constraints = [
      "self and other broadcast"];
  let gradient = "none: the result is bool.";
  let example =
      "%y = ft.logical_and(%a, %b) : (tensor<4xi1>, tensor<4xi1>) -> "
      "tensor<4xi1>";
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

def Ft_WhereSelfOp : Ft_PointwiseCall<"where.self"> {
  let summary = "choice by a condition";
  let semantics = "self where condition, else other.";
  let constraints = [
      "condition is bool",
      "all three broadcast",
      "the dtypes of self and other promote to one"];
  let gradient = "dy where chosen, else 0; condition has none.";
  let example =
      "%y = ft.where.self(%c, %a, %b) : (tensor<4xi1>, tensor<4xf32>, "
      "tensor<4xf32>) -> tensor<4xf32>";
}

def Ft_WhereScalarOtherOp : Ft_PointwiseCall<"where.ScalarOther"> {
  let summary = "choice between a tensor and a number";
  let semantics = "self where condition, else other.";
  let constraints = [
      "condition is bool",
      "condition and self broadcast"];
  let gradient = "dy where chosen, else 0; condition has none.";
  let example =
      "%y = ft.where.ScalarOther(%c, %a, 0.0) : (tensor<4xi1>, "
      "tensor<4xf32>) -> tensor<4xf32>";
}

def Ft_MaskedFillScalarOp : Ft_PointwiseCall<"masked_fill.Scalar"> {
  let summary = "number where a mask is true";
  let semantics = "value where mask, else self.";
  let constraints = [
      "mask is bool",
      "mask and self broadcast",
      "value converts to the dtype of self"];
  let gradient = "dy where mask is false, else 0.";
  let example =
      "%y = ft.masked_fill.Scalar(%x, %m, 0.0) : (tensor<4xf32>, "
      "tensor<4xi1>) -> tensor<4xf32>";
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

/// self = f(self, …): the result is self.
class Ft_InPlaceCall<string opMnemonic> : Ft_PointwiseCall<opMnemonic> {
  let constraints = ["the result's shape is self's: self is not broadcast",
                     "the result's dtype converts to self's without leaving "
                     "its category"];
  let strides = "those of self, which the result is";
  let gradient = "that of the functional form, which functionalize puts in "
                 "its place.";
  let recompute = kNever;
}

def Ft_AddInPlaceOp : Ft_InPlaceCall<"add_"> {
  let summary = "sum into self";
  let semantics = "self ← self + alpha · other.";
  let example =
      "%r = ft.add_(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xf32>";
}

def Ft_MulInPlaceOp : Ft_InPlaceCall<"mul_"> {
  let summary = "product into self";
  let semantics = "self ← self · other.";
  let example =
      "%r = ft.mul_(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xf32>";
}

def Ft_SubInPlaceOp : Ft_InPlaceCall<"sub_"> {
  let summary = "difference into self";
  let semantics = "self ← self − alpha · other.";
  let example =
      "%r = ft.sub_(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xf32>";
}

def Ft_DivInPlaceOp : Ft_InPlaceCall<"div_"> {
  let summary = "quotient into self";
  let semantics = "self ← self / other.";
  let example =
      "%r = ft.div_(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xf32>";
}

def Ft_ReluInPlaceOp : Ft_InPlaceCall<"relu_"> {
  let summary = "rectifier into self";
  let semantics = "self ← max(self, 0).";
  let example = "%r = ft.relu_(%x) : (tensor<4xf32>) -> tensor<4xf32>";
}

def Ft_SiluInPlaceOp : Ft_InPlaceCall<"silu_"> {
  let summary = "product with the logistic function into self";
  let semantics = "self ← self · sigmoid(self).";
  let example = "%r = ft.silu_(%x) : (tensor<4xf32>) -> tensor<4xf32>";
}

def Ft_HardswishInPlaceOp : Ft_InPlaceCall<"hardswish_"> {
  let summary = "hardswish into self";
  let semantics = "self ← hardswish(self).";
  let example = "%r = ft.hardswish_(%x) : (tensor<4xf32>) -> tensor<4xf32>";
}
