//===- Finite.h - Calls on infinities --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_INTERPRETER_FINITE_H
#define FORETRACE_TESTS_INTERPRETER_FINITE_H

#include "tests/interpreter/Interpreter.h"

#include <cmath>

namespace ft::interpreter {

/// Leaves `why` where an operand holds an infinity or NaN and what comes of it
/// is the algorithm's choice: zeros of a padding times infinity, sums whose
/// terms are multiplied afterwards.
inline void openIfNotFinite(Call &call, const llvm::Twine &why) {
  for (const Tensor &operand : call.operands)
    for (int64_t i = 0, n = operand.numel(); i < n; ++i)
      if (!std::isfinite(std::abs(operand.complex(i))))
        return call.open(why);
}

} // namespace ft::interpreter

#endif // FORETRACE_TESTS_INTERPRETER_FINITE_H
