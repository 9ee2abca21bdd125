//===- Pointwise.h - Tables of functions of numbers ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_INTERPRETER_POINTWISE_H
#define FORETRACE_TESTS_INTERPRETER_POINTWISE_H

#include "tests/interpreter/Interpreter.h"

namespace ft::interpreter {

/// The dtype that an op computes in.
enum class Promote : uint8_t {
  /// That to which the operands promote.
  Operands,
  /// The same, float32 for integers.
  Float,
  /// float64 or complex128.
  Double,
  /// That of the result.
  Result,
  /// The first argument is a mask; the operands follow it.
  Mask
};

/// One function under all its names. Slots are the arguments but for strings,
/// in the schema's order: the first `operands` take part in promotion and are
/// converted to the type of computation, the rest are parameters (absent ones
/// NaN).
struct PointwiseRow {
  /// "add.Tensor add.Scalar"; a name without an overload is NAME.default.
  llvm::StringRef names;
  OpClass opClass = OpClass::Elementary;
  Promote promote = Promote::Operands;
  unsigned operands = 1;
  double (*real)(const double *x) = nullptr;
  Complex (*complex)(const Complex *x) = nullptr;
  /// For integers and bool, wrapped to the type of computation afterwards.
  int64_t (*integer)(const int64_t *x, Call &call) = nullptr;
};

llvm::ArrayRef<PointwiseRow> arithmeticRows();
llvm::ArrayRef<PointwiseRow> elementaryRows();
llvm::ArrayRef<PointwiseRow> specialRows();
llvm::ArrayRef<PointwiseRow> activationRows();
/// Ops that do not fit the table: several results, strings, channels.
llvm::ArrayRef<OpRow> ownPointwiseRows();

/// `value` rounded as an intermediate result of PyTorch's kernels is, which
/// compute in float64 for float64 and in float32 for everything below: where an
/// overflow on the way decides the result.
double step(double value);
/// `value` rounded to the dtype itself: a number that kernels keep in it.
double stored(double value);
/// The dtype that `step` and `stored` are of from now on.
void stepIn(DType dtype);

DType computeType(const Call &call, Promote promote, unsigned operands);
void evaluatePointwise(Call &call, const PointwiseRow &row);

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_POINTWISE_H
