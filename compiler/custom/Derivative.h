//===- Derivative.h - Derivatives of custom operators ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of a call is built from calls of ft operators, next to where the
// builder stands. What autograd needs is one function:
//
//   %y = ft.custom "demo::scale"(%x, factor = 2.0)      and  %g of %y
//   buildCustomBackward(builder, op, {%g})
//   %0 = ft.mul.Scalar(%g, 2.0)                         gives {%0}
//
// Diagnostics, at the forward call: [FT0801] the operator has no derivative;
// [FT0307] what its derivative builds does not fit.

#ifndef FORETRACE_COMPILER_CUSTOM_DERIVATIVE_H
#define FORETRACE_COMPILER_CUSTOM_DERIVATIVE_H

#include "foretrace/plugin.h"

#include "dialects/ft/AtenCall.h"

#include "mlir/IR/Builders.h"

#include <deque>
#include <functional>

namespace ft {

/// The backward of one call while a derivative builds it.
class CustomGradient {
public:
  /// `gradients`: one for each result of `forward`; null where the loss does
  /// not depend on it.
  CustomGradient(mlir::OpBuilder &builder, mlir::Operation *forward,
                 mlir::ValueRange gradients);

  const AtenCall &forward() const { return call; }
  mlir::Value result(unsigned index) const { return op->getResult(index); }
  mlir::Value gradient(unsigned index) const { return gradients[index]; }
  unsigned numResults() const { return op->getNumResults(); }

  /// Builds a call of "aten::mul.Tensor", "mul.Tensor" or a custom operator,
  /// and annotates its results. Null after a failure, which is reported.
  mlir::Operation *build(llvm::StringRef name, llvm::ArrayRef<Arg> arguments,
                         mlir::ValueRange operands);
  /// The gradient of operand `index` of the forward call, a tensor.
  llvm::LogicalResult set(unsigned index, mlir::Value value);
  /// Reports at the forward call.
  llvm::LogicalResult fail(const llvm::Twine &why);

  /// By operand of the forward call; null: none.
  llvm::ArrayRef<mlir::Value> operandGradients() const { return results; }

private:
  mlir::OpBuilder &builder;
  mlir::Operation *op;
  AtenCall call;
  llvm::SmallVector<mlir::Value> gradients;
  llvm::SmallVector<mlir::Value> results;
};

using CustomDerivative = std::function<llvm::LogicalResult(CustomGradient &)>;
/// A derivative in C. `user` is handed on.
CustomDerivative callbackDerivative(ft_derivative_fn derivative, void *user);
/// A call of the operator `name`, whose arguments are found by their names
/// (ft_op_registration::derivative_op).
CustomDerivative namedDerivative(std::string name);

/// Builds the backward of a call of a custom operator. Gives one value for each
/// operand; null for those that have no gradient.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildCustomBackward(mlir::OpBuilder &builder, mlir::Operation *forward,
                    mlir::ValueRange gradients);

} // namespace ft

#endif // FORETRACE_COMPILER_CUSTOM_DERIVATIVE_H
