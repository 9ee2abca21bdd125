//===- Assert.cpp - Lowering of assertions --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assertions on sizes and metadata were decided by the fake pass: nothing is
// left of them. Those that read data are not in the graphs of this stage.

#include "compiler/lower/Rules.h"

using namespace mlir;

namespace ft {

static LogicalResult nothing(LowerCall &c) { return success(); }

/// The codes of a factorisation are 0 where it succeeded.
static LogicalResult checkErrors(LowerCall &c) {
  c.checkIndex(c.operand(0), 0, 1, 1);
  return success();
}

static const LowerRuleRow kRows[] = {
    {"_assert_tensor_metadata.default", nothing},
    {"_assert_scalar.default", nothing},
    {"_linalg_check_errors.default", checkErrors},
    {"sym_constrain_range.default", nothing},
    {"sym_constrain_range_for_size.default", nothing},
};

ArrayRef<LowerRuleRow> assertLowerRules() { return kRows; }

} // namespace ft
