//===- LowerRules.cpp - Finds the lowering rule of an overload -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"
#include "compiler/lower/rules/Composites.h"
#include "dialects/ft/CustomOps.h"

namespace ft {

const LowerRuleRow *findLowerRule(const Schema &schema) {
  static const LowerRuleRow custom{"", lowerCustom};
  if (const CustomOp *op = customOp(schema))
    return op->code().symbol.empty() ? nullptr : &custom;
  // One slot for each row of the schema table, filled at the first call.
  static const std::vector<const LowerRuleRow *> rules = [] {
    const SchemaTable &table = SchemaTable::get();
    std::vector<const LowerRuleRow *> byIndex(table.all().size(), nullptr);
    auto add = [&](llvm::ArrayRef<LowerRuleRow> rows) {
      for (const LowerRuleRow &row : rows)
        if (const Schema *s = table.find(row.name))
          byIndex[s->index] = &row;
    };
#define FT_LOWER_FAMILY(name) add(name##LowerRules());
#include "compiler/lower/Families.def"
#undef FT_LOWER_FAMILY
    for (llvm::ArrayRef<LowerRuleRow> rows :
         {attentionBackwardLowerRules(), ctcLowerRules(),
          distanceBackwardLowerRules(), fakeQuantizeLowerRules(),
          gradientLowerRules(), gradScaleLowerRules(), optimizerLowerRules(),
          rnnBackwardLowerRules(), selectionBackwardLowerRules(),
          productsLowerRules(), quantileLowerRules(), statisticsLowerRules(),
          weightNormLowerRules()})
      add(rows);
    return byIndex;
  }();
  return rules[schema.index];
}

} // namespace ft
