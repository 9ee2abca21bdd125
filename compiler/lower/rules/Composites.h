//===- Composites.h - Tables of rules across families ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of files that are no family of their own (Families.def): what they
// compute is made of what families share.

#ifndef FORETRACE_COMPILER_LOWER_RULES_COMPOSITES_H
#define FORETRACE_COMPILER_LOWER_RULES_COMPOSITES_H

#include "compiler/lower/LowerCall.h"

namespace ft {

llvm::ArrayRef<LowerRuleRow> attentionBackwardLowerRules();
llvm::ArrayRef<LowerRuleRow> ctcLowerRules();
llvm::ArrayRef<LowerRuleRow> distanceBackwardLowerRules();
llvm::ArrayRef<LowerRuleRow> fakeQuantizeLowerRules();
llvm::ArrayRef<LowerRuleRow> gradientLowerRules();
llvm::ArrayRef<LowerRuleRow> gradScaleLowerRules();
llvm::ArrayRef<LowerRuleRow> optimizerLowerRules();
llvm::ArrayRef<LowerRuleRow> productsLowerRules();
llvm::ArrayRef<LowerRuleRow> quantileLowerRules();
llvm::ArrayRef<LowerRuleRow> rnnBackwardLowerRules();
llvm::ArrayRef<LowerRuleRow> selectionBackwardLowerRules();
llvm::ArrayRef<LowerRuleRow> statisticsLowerRules();
llvm::ArrayRef<LowerRuleRow> weightNormLowerRules();

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_COMPOSITES_H
