//===- Assert.cpp - Lowering of assertions --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assertions on sizes and metadata were decided by the fake pass: nothing is
// left of them. Those that read data are not in the graphs of this stage.

#include "compiler/lower/Rules.h"

using namespace mlir;

namespace ft {

static LogicalResult nothing(LowerCall &c) { return success(); }

static const LowerRuleRow kRows[] = {
    {"_assert_tensor_metadata.default", nothing},
    {"_assert_scalar.default", nothing},
    {"sym_constrain_range.default", nothing},
    {"sym_constrain_range_for_size.default", nothing},
};

ArrayRef<LowerRuleRow> assertLowerRules() { return kRows; }

} // namespace ft
