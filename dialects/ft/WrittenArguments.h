//===- WrittenArguments.h - Results stored in arguments --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A result with ft.role "…_mutation" is stored in the argument of its
// ft.target. Names are of their own among parameters, among inputs and among
// the rest: the update of a parameter "step" has an argument "step" that counts
// the steps, too.
//
//   (%n {given_buffer "step"}, %w {given_parameter "step"})
//       -> (… {buffer_mutation "step"}, … {parameter_mutation "step"})

#ifndef FORETRACE_DIALECTS_FT_WRITTENARGUMENTS_H
#define FORETRACE_DIALECTS_FT_WRITTENARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseMap.h"

namespace ft {

/// The role of a result that is stored in an argument of this ft.kind.
llvm::StringRef mutationOf(llvm::StringRef kind);

/// Whether a result of this ft.role is stored in an argument.
bool isMutation(mlir::StringAttr role);

/// Which results of a function are stored in which of its arguments. As of the
/// attributes when it was made.
class WrittenArguments {
public:
  explicit WrittenArguments(mlir::func::FuncOp function);

  /// The argument that the result is stored in; null if it is stored in none.
  mlir::BlockArgument of(unsigned result) const {
    return result < byResult.size() ? byResult[result] : nullptr;
  }

  /// The first result that is stored in the argument.
  std::optional<unsigned> resultOf(mlir::Value argument) const {
    auto found = byArgument.find(argument);
    return found == byArgument.end() ? std::nullopt
                                     : std::optional(found->second);
  }

  bool contains(mlir::Value argument) const {
    return byArgument.contains(argument);
  }

private:
  llvm::SmallVector<mlir::BlockArgument> byResult;
  llvm::DenseMap<mlir::Value, unsigned> byArgument;
};

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_WRITTENARGUMENTS_H
