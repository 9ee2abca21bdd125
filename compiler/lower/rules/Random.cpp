//===- Random.cpp - Lowering of operators that may draw numbers -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"

using namespace mlir;

namespace ft {

static LogicalResult needsNumbers(LowerCall &c) {
  return c.unsupported("random numbers are not generated yet");
}

/// Nothing is dropped in evaluation or with p = 0, everything with p = 1.
static LogicalResult dropout(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  if (!c.flag(2) || c.number(1) == 0)
    c.setResult(0, t);
  else if (c.number(1) == 1)
    c.setResult(0, c.filled(t.sizes(), t.dtype, 0));
  else
    return needsNumbers(c);
  return success();
}

/// With the mask of what is kept.
static LogicalResult nativeDropout(LowerCall &c) {
  LoweredTensor t = c.operand(0);
  bool train = c.isNone(2) || c.flag(2);
  if (train && c.number(1) != 0 && c.number(1) != 1)
    return needsNumbers(c);
  bool all = train && c.number(1) == 1;
  c.setResult(0, all ? c.filled(t.sizes(), t.dtype, 0) : t);
  c.setResult(1, c.filledInt(staticSizes(c.resultMeta(1)),
                             c.resultMeta(1).dtype, all ? 0 : 1));
  return success();
}

/// x where the mask is set, times the scale.
static LogicalResult maskedScale(LowerCall &c) {
  LoweredTensor x = c.operand(0), mask = c.operand(1);
  DType work = opmathType(x.dtype);
  double scale = c.number(2);
  c.setResult(0, c.pointwise({x, mask}, c.resultMeta(0),
                             [&](ScalarBuilder &s, ValueRange v) {
                               Value e = s.cast(v[0], x.dtype, work);
                               Value m = s.cast(v[1], mask.dtype, work);
                               Value k = s.constant(e.getType(), scale);
                               return s.cast(s.mul(s.mul(e, m), k), work,
                                             x.dtype);
                             }));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"dropout.default", dropout},
    {"feature_dropout.default", dropout},
    {"alpha_dropout.default", dropout},
    {"native_dropout.default", nativeDropout},
    {"native_dropout_backward.default", maskedScale},
    {"_masked_scale.default", maskedScale},
};

ArrayRef<LowerRuleRow> randomLowerRules() { return kRows; }

} // namespace ft
