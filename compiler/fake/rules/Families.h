//===- Families.h - The tables of fake rules, one per family ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_RULES_FAMILIES_H
#define FORETRACE_COMPILER_FAKE_RULES_FAMILIES_H

#include "compiler/fake/FakeCall.h"

#include "llvm/ADT/ArrayRef.h"

namespace ft {

// Each file of this folder holds the rules of the family it is named after (the
// first column of AtenOps.def) and gives them as one table.
#define FT_FAMILY(name) llvm::ArrayRef<FakeRuleRow> name##Rules();
#include "compiler/fake/rules/Families.def"
#undef FT_FAMILY

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_FAMILIES_H
