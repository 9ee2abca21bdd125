//===- RuleCall.h - Builds operations for a rule ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What rules of this stage share: the forward call they are about, and a way to
// write calls of ft operators as expressions.
//
//   // (grad - sum(grad * y)) * y
//   Term y = c.result(0);
//   Term total = c.call("sum", {c.mul(grad, y), dims, true});
//   return c.mul(c.sub(grad, total), y);
//
// Every call is annotated when it is built. After a failure, which is reported
// at the forward call, results are zero terms and nothing more is built.

#ifndef FORETRACE_COMPILER_AUTOGRAD_RULECALL_H
#define FORETRACE_COMPILER_AUTOGRAD_RULECALL_H

#include "compiler/autograd/Term.h"
#include "dialects/ft/AtenCall.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseSet.h"

namespace ft {

class FakeCache;
class FakeScope;

/// Where new operations go, and what is needed to annotate them.
struct RuleBuilder {
  mlir::OpBuilder &builder;
  FakeCache *cache = nullptr;
  FakeScope *scope = nullptr;
  /// While calls are expanded: the values that vary with what requires a
  /// gradient.
  const llvm::DenseSet<mlir::Value> *varied = nullptr;
};

class RuleCall {
public:
  /// `forward` may be a branch or loop, which has no arguments by name.
  RuleCall(RuleBuilder &to, mlir::Operation *forward);

  mlir::Operation *operation() const { return op; }
  const AtenCall &forward() const { return call_; }
  const Schema &schema() const { return *call_.schema; }

  /// The argument of the forward call that is called `name`.
  Term arg(llvm::StringRef name);
  Term arg(unsigned index) const;
  /// Result `index` of the forward call; none if it is undefined.
  Term result(unsigned index) const;

  /// A call of "mul.Tensor", or of the first overload of "mul" that the
  /// arguments fit. Terms with a name are keyword arguments; a zero term is an
  /// optional argument that is absent. The first result.
  Term call(llvm::StringRef name, llvm::ArrayRef<Term> arguments);
  /// All results; those that are undefined are none. Of an overload that
  /// returns a list, the caller knows how long it is.
  std::vector<Term> callAll(llvm::StringRef name,
                            llvm::ArrayRef<Term> arguments,
                            size_t listLength = 0);

  // Arithmetic on tensors and numbers; that of known numbers is done at once.
  // Zero terms are zeros, and a factor of exactly 1 is left out.
  Term add(const Term &a, const Term &b);
  Term sub(const Term &a, const Term &b);
  Term mul(const Term &a, const Term &b);
  Term div(const Term &a, const Term &b);
  Term neg(const Term &a);
  /// The complex conjugate; real tensors and numbers as they are.
  Term conj(const Term &a);
  /// The conjugate transpose of the last two dims.
  Term adjoint(const Term &a);
  /// The real part of a complex tensor.
  Term real(const Term &a);
  Term cast(const Term &a, DType dtype);
  /// The tensor with the strides of `like`, which has its sizes.
  Term laidOut(const Term &a, const TensorMeta &like);
  /// Zeros of the size of `like` in place of a zero term.
  Term defined(const Term &a, const Term &like);

  /// In an expansion: whether gradients flow to a tensor.
  bool varies(const Term &tensor) const {
    return to.varied && to.varied->contains(tensor.value());
  }

  // What is known of a tensor.
  static TensorMeta meta(const Term &tensor);
  static Dims sizes(const Term &tensor) { return meta(tensor).sizes; }
  static int64_t rank(const Term &tensor) { return meta(tensor).rank(); }
  static DType dtype(const Term &tensor) { return meta(tensor).dtype; }
  static bool isComplex(const Term &tensor);

  // Shapes.
  /// `dim` counted from the front; of a tensor without dims, 0.
  static int64_t wrap(int64_t dim, int64_t rank);
  /// The dims that a `dim` argument names, counted from the front: all of them
  /// if it is none or an empty list.
  static llvm::SmallVector<int64_t> dimsOf(const Term &dim, int64_t rank);
  /// `reduced`, the result of a reduction of `x` over `dim`, with the dims that
  /// the reduction has dropped, so that it broadcasts against `x`.
  Term restoreDims(const Term &reduced, const Term &x, const Term &dim,
                   bool keepdim);
  /// The number of elements of `x` that one result of a reduction has seen.
  static Dim reducedCount(const Term &x, const Term &dim);
  /// The sum over the dims that broadcasting from `sizes` has made.
  Term sumTo(const Term &a, llvm::ArrayRef<Dim> sizes);
  Term reshape(const Term &a, llvm::ArrayRef<Dim> sizes);
  /// The first elements of each dim, as many as `sizes` says.
  Term cutTo(const Term &a, llvm::ArrayRef<Dim> sizes);
  /// Zeros behind the elements of each dim, up to `sizes`.
  Term padTo(const Term &a, llvm::ArrayRef<Dim> sizes);

  /// Reports [FT0801] at the forward call.
  void fail(const llvm::Twine &why);
  bool failed() const { return hasFailed; }

protected:
  RuleBuilder &to;

private:
  Term arithmetic(llvm::StringRef name, const Term &a, const Term &b);
  const Schema *overload(llvm::StringRef name, llvm::ArrayRef<Term> arguments);

  mlir::Operation *op;
  AtenCall call_;
  bool hasFailed = false;
};

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_RULECALL_H
