//===- LinalgCall.h - Calls on batches of matrices -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infinities and NaN are open: what becomes of them is the order of sums. So is
// the solution of a singular system, where PyTorch returns one.
//===----------------------------------------------------------------------===//

#ifndef FORETRACE_TESTS_INTERPRETER_LINALGCALL_H
#define FORETRACE_TESTS_INTERPRETER_LINALGCALL_H

#include "tests/interpreter/Dense.h"
#include "tests/interpreter/Interpreter.h"

namespace ft::interpreter {

/// Calls `each` with each matrix of argument `i`.
void forEachMatrix(Call &call, unsigned i,
                   llvm::function_ref<void(const Matrix &, int64_t)> each);

/// The flag of that name, if there is one.
bool flagNamed(const Call &call, llvm::StringRef name, bool otherwise);

/// A matrix has no inverse: the call raises an error, or leaves result 0 if it
/// is asked not to check.
void noteSingular(Call &call);

/// What is to be solved: A X = B, or X A = B.
struct System {
  const Tensor &a, &b;
  bool left = true;
};

/// X into result 0, for batches that broadcast; `made` gives the A of matrix
/// number `which` of argument `a`.
void solveAll(Call &call, System system,
              llvm::function_ref<Matrix(const Matrix &, int64_t which)> made);

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_LINALGCALL_H
