//===- Rules.h - The families of lowering rules ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_RULES_H
#define FORETRACE_COMPILER_LOWER_RULES_H

#include "compiler/lower/LowerCall.h"

namespace ft {

// One file each in rules/, spelled as in dialect and fake.
#define FT_LOWER_FAMILY(name) llvm::ArrayRef<LowerRuleRow> name##LowerRules();
#include "compiler/lower/Families.def"
#undef FT_LOWER_FAMILY

/// batch_norm, whose arguments those of instance_norm are: with running
/// statistics that are not updated the two are the same (rules/BatchNorm.cpp).
llvm::LogicalResult lowerBatchNorm(LowerCall &call);

/// The rule of every custom operator with a kernel (rules/Custom.cpp).
llvm::LogicalResult lowerCustom(LowerCall &call);

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_H
