//===- FormulaFunctions.h - What the formulas have built in ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_AUTOGRAD_FORMULAFUNCTIONS_H
#define FORETRACE_COMPILER_AUTOGRAD_FORMULAFUNCTIONS_H

#include "compiler/autograd/RuleCall.h"

namespace ft {

/// A function of the language of formulas (Formula.h lists them).
struct FormulaFunction {
  llvm::StringLiteral name;
  Term (*compute)(RuleCall &call, llvm::ArrayRef<Term> arguments);
};

/// Null if `name` is that of an operator.
const FormulaFunction *findFormulaFunction(llvm::StringRef name);

/// "==", "<" …: a bool if both sides are known, a tensor otherwise.
Term compareTerms(RuleCall &call, llvm::StringRef op, const Term &a,
                  const Term &b);

} // namespace ft

#endif // FORETRACE_COMPILER_AUTOGRAD_FORMULAFUNCTIONS_H
