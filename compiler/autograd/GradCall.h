//===- GradCall.h - The backward of one call -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_AUTOGRAD_GRADCALL_H
#define FORETRACE_COMPILER_AUTOGRAD_GRADCALL_H

#include "compiler/autograd/Activity.h"
#include "compiler/autograd/RuleCall.h"

namespace ft {

/// What a derivative rule reads and writes: the gradients of the results of one
/// forward call come in, those of its tensor arguments go out.
///
///   // mm(self, mat2): grad @ mat2^H and self^H @ grad
///   if (g.needs("self"))
///     g.set("self", g.call("mm", {g.grad(), adjoint(g, g.arg("mat2"))}));
///
/// With J the Jacobian of the call, the gradient of an argument is J^H grad:
/// for complex tensors the conjugate convention of PyTorch, in which
/// x - rate * gradient goes downhill.
class GradCall : public RuleCall {
public:
  /// `gradients`: one for each result of `forward`, null where the outputs do
  /// not depend on it.
  GradCall(RuleBuilder &to, mlir::Operation *forward,
           llvm::ArrayRef<mlir::Value> gradients, const Activity &activity);

  /// The gradient of a result; zeros of its size if there is none.
  Term grad(unsigned result = 0);
  /// The same; the zero term if there is none.
  Term gradIfAny(unsigned result = 0) const { return gradients[result]; }

  /// Whether the gradient of an argument (of any item of a list) is asked for.
  bool needs(llvm::StringRef argument);
  bool needsItem(llvm::StringRef argument, size_t item);

  /// Sets the gradient of an argument. It is brought to the argument's size
  /// (dims that broadcasting has made are summed), its domain (the real part
  /// for a real tensor), dtype and device. Zero terms and arguments whose
  /// gradient nobody asks for are passed over.
  void set(llvm::StringRef argument, const Term &gradient);
  /// Adds to what has been set.
  void accumulate(llvm::StringRef argument, const Term &gradient);
  void setItem(llvm::StringRef argument, size_t item, const Term &gradient);

  /// By operand of the forward call; null: none.
  llvm::ArrayRef<mlir::Value> operandGradients() const { return results; }

private:
  int operandOf(llvm::StringRef argument, int item);
  void setOperand(int operand, const Term &gradient);

  llvm::SmallVector<mlir::Value> gradients;
  const Activity &activity;
  llvm::SmallVector<mlir::Value> results;
};

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_GRADCALL_H
