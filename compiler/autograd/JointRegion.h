//===- JointRegion.h - Forward and backward of a region --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_AUTOGRAD_JOINTREGION_H
#define FORETRACE_COMPILER_AUTOGRAD_JOINTREGION_H

#include "compiler/autograd/Activity.h"
#include "compiler/autograd/RuleCall.h"

#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace ft {

/// The region of a branch or loop while it is derived (ControlFlow.h has the
/// picture): trace() adds its backward to it, cut() says what belongs to the
/// backward and what that reads of the forward, cloneBackward() builds it
/// elsewhere, and finish() takes it out of the region.
class JointRegion {
public:
  JointRegion(mlir::Region &region, RuleCall &call, RuleBuilder &to,
              const Activity &activity)
      : body(region.front()), call(call), to(to), activity(activity) {}

  /// `tangents`: by result of the op the type of what arrives there; null:
  /// nothing.
  mlir::LogicalResult trace(llvm::ArrayRef<mlir::Type> tangents);

  /// What the backward does with an argument of the region.
  enum class Argument : uint8_t {
    Given, ///< it is there: a captured operand, a slice
    Kept   ///< it changes from one iteration to the next
  };
  /// `kinds`: by argument. With `invariants`, operations on given values only
  /// are done again, however much they cost; they must all be captured.
  mlir::LogicalResult cut(llvm::ArrayRef<Argument> kinds,
                          llvm::ArrayRef<bool> isCaptured);

  /// By argument of the region as it was before; null: none.
  llvm::ArrayRef<mlir::Value> gradients() const { return results; }
  /// By result of the op; null where no tangent arrives.
  llvm::ArrayRef<mlir::BlockArgument> tangents() const { return arrived; }
  /// Values and arguments of the region that the backward reads.
  llvm::ArrayRef<mlir::Value> kept() const { return saved.getArrayRef(); }
  bool reads(mlir::BlockArgument argument) const {
    return arguments.contains(argument);
  }

  /// Clones the backward to the insertion point. `map` has all that it reads.
  void cloneBackward(mlir::IRMapping &map);
  /// Leaves the forward: the values that it yielded before.
  void finish();

private:
  void collectForward();
  bool isRemade(mlir::Operation *op, mlir::Value value);
  void collectInvariants();
  bool canBeKept(mlir::Value value) const;
  void need(mlir::Value first);
  mlir::LogicalResult checkKept();

  mlir::Block &body;
  RuleCall &call;
  RuleBuilder &to;
  const Activity &activity;
  /// How many arguments and yielded values the region had before.
  unsigned primals = 0, outputs = 0;
  llvm::SmallVector<mlir::BlockArgument> arrived;
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<Argument> kinds;
  llvm::SmallVector<bool> captured;
  /// Symbols of sizes that are known outside: those of the arguments.
  llvm::StringSet<> outside;
  llvm::DenseSet<mlir::Operation *> forward, backward;
  /// The same in every run of the region: a loop's backward makes them again
  /// from what it captures.
  llvm::DenseSet<mlir::Value> invariant;
  llvm::SetVector<mlir::Value> saved;
  llvm::SetVector<mlir::BlockArgument> arguments;
};

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_JOINTREGION_H
