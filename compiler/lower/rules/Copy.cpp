//===- Copy.cpp - Lowering of copies and conversions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Rules.h"

using namespace mlir;

namespace ft {

/// The same elements, converted to the result's dtype if that differs: layouts
/// are the business of the boundary, inside a copy is its operand.
static LogicalResult same(LowerCall &c) {
  c.setResult(0, c.cast(c.operand(0), c.resultMeta(0).dtype));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"alias.default", same},
    {"clone.default", same},
    {"contiguous.default", same},
    {"detach.default", same},
    {"lift_fresh_copy.default", same},
    {"to.device", same},
    {"to.dtype", same},
    {"to.dtype_layout", same},
    {"to.other", same},
    {"_to_copy.default", same},
};

ArrayRef<LowerRuleRow> copyLowerRules() { return kRows; }

} // namespace ft
