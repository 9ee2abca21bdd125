//===- Assert.cpp - Lowering of assertions --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assertions on sizes and metadata were decided by the fake pass: nothing is
// left of them. Those on numbers of the run become checks: what follows was
// annotated as if they hold.

#include "compiler/lower/Rules.h"

using namespace mlir;

namespace ft {

static LogicalResult nothing(LowerCall &c) { return success(); }

/// (condition, message)
static LogicalResult assertScalar(LowerCall &c) {
  if (c.isRuntimeNumber(0))
    c.checkTrue(c.cast(c.operand(0), DType::Bool), c.call().args[1].str);
  return success();
}

/// (size, min, max), both ends included; at least 0 in the `ForSize` form.
template <bool ForSize>
static LogicalResult constrainRange(LowerCall &c) {
  if (!c.isRuntimeNumber(0))
    return success();
  if (c.isRuntimeNumber(1) || c.isRuntimeNumber(2))
    return c.unsupported("a bound that is only known at run time");
  int64_t low = c.isNone(1) ? (ForSize ? 0 : INT64_MIN) : c.integer(1);
  int64_t high = c.isNone(2) ? INT64_MAX : c.integer(2);
  LoweredTensor inside = c.pointwise(
      c.operand(0), {}, DType::Bool, [&](ScalarBuilder &s, ValueRange v) {
        using Cmp = ScalarBuilder::Cmp;
        Type type = v[0].getType();
        Value above = s.cmp(Cmp::Ge, v[0], s.constantInt(type, low));
        Value below = s.cmp(Cmp::Le, v[0], s.constantInt(type, high));
        return s.select(above, below, s.constantInt(below.getType(), 0));
      });
  c.checkTrue(inside, "a number is outside of [" + Twine(low) + ", " +
                          Twine(high) + "], which the model asserts");
  return success();
}

/// (condition, message): the condition is a tensor of one element.
static LogicalResult assertTensor(LowerCall &c) {
  LoweredTensor condition = c.cast(c.operand(0), DType::Bool);
  c.checkTrue(c.reshape(condition, {}), c.call().args.size() > 1
                                            ? Twine(c.call().args[1].str)
                                            : Twine("an assertion failed"));
  return success();
}

// The functional forms return the token that orders them.
static LogicalResult withToken(LowerCall &c, LogicalResult done,
                               unsigned token) {
  if (succeeded(done))
    c.setResult(0, c.operand(token));
  return done;
}
static LogicalResult functionalAssertTensor(LowerCall &c) {
  return withToken(c, assertTensor(c), 2);
}
static LogicalResult functionalAssertScalar(LowerCall &c) {
  return withToken(c, assertScalar(c), 2);
}
template <bool ForSize>
static LogicalResult functionalRange(LowerCall &c) {
  return withToken(c, constrainRange<ForSize>(c), 3);
}

/// The codes of a factorisation are 0 where it succeeded.
static LogicalResult checkErrors(LowerCall &c) {
  c.checkIndex(c.operand(0), 0, 1, 1);
  return success();
}

static const LowerRuleRow kRows[] = {
    anyShape("_assert_tensor_metadata.default", nothing),
    anyShape("_assert_async.default", assertTensor),
    anyShape("_assert_async.msg", assertTensor),
    anyShape("_assert_scalar.default", assertScalar, Numbers::Runtime),
    anyShape("_functional_assert_async.msg", functionalAssertTensor),
    anyShape("_functional_assert_scalar.default", functionalAssertScalar,
             Numbers::Runtime),
    anyShape("_functional_sym_constrain_range.default", functionalRange<false>,
             Numbers::Runtime),
    anyShape("_functional_sym_constrain_range_for_size.default",
             functionalRange<true>, Numbers::Runtime),
    anyShape("_linalg_check_errors.default", checkErrors),
    anyShape("sym_constrain_range.default", constrainRange<false>,
             Numbers::Runtime),
    anyShape("sym_constrain_range_for_size.default", constrainRange<true>,
             Numbers::Runtime),
};

ArrayRef<LowerRuleRow> assertLowerRules() { return kRows; }

} // namespace ft
