//===- Assert.cpp - Checks that programs carry -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/rules/Families.h"

using namespace llvm;

namespace ft {

/// Checked at run time, if at all.
static LogicalResult atRunTime(FakeCall &) { return success(); }

/// From here on the predicate is a fact; false at once if it cannot hold.
static LogicalResult hold(FakeCall &c, SymExpr predicate) {
  c.bypass = "fact";
  if (!predicate || !c.scope || c.scope->require(predicate, c.schema().base))
    return success();
  return c.fail(FakeError::Other, "the program asserts " + predicate.str() +
                                      ", which never holds");
}

/// (condition, message)
static LogicalResult assertScalar(FakeCall &c) {
  std::optional<Dim> truth = c.truthOf(0);
  if (truth && truth->is(0))
    return c.fail(FakeError::Other,
                  "the program asserts a condition that never holds: " +
                      c.text(1));
  return !truth || truth->isStatic() ? success() : hold(c, truth->symbolic());
}

/// (size, min, max): a size of at least 0 in the `ForSize` form.
template <bool ForSize>
static LogicalResult constrainRange(FakeCall &c) {
  if (!c.scope || c.arg(0).kind != Arg::Int || c.dim(0).isStatic())
    return success();
  SymContext &symbols = c.scope->symbols();
  SymExpr size = c.dim(0).symbolic();
  SmallVector<SymExpr, 2> ends;
  if (!c.isNone(1) || ForSize)
    ends.push_back(symbols.ge(size, c.isNone(1) ? symbols.constant(0)
                                                : c.dim(1).toExpr(symbols)));
  if (!c.isNone(2))
    ends.push_back(symbols.le(size, c.dim(2).toExpr(symbols)));
  return hold(c, symbols.logicalAnd(ends));
}

/// Decided here and now: (a, size, stride, dtype, *, device, layout).
static LogicalResult tensorMetadata(FakeCall &c) {
  const TensorMeta &a = c.tensor(0);
  if (!c.isNone(1) && !c.sameSizes(a.sizes, c.dims(1)))
    return c.fail(FakeError::Shape,
                  "the program asserts another size of " + c.show(a));
  if (!c.isNone(2) && !c.sameSizes(a.strides, c.dims(2)))
    return c.fail(FakeError::Shape,
                  "the program asserts other strides of " + c.show(a));
  if (std::optional<DType> dtype = c.dtype(3); dtype && *dtype != a.dtype)
    return c.fail(FakeError::Dtype, "the program asserts " + dtypeName(*dtype) +
                                        ", the tensor is " +
                                        dtypeName(a.dtype));
  if (std::optional<Device> device = c.deviceArg(4);
      device && *device != a.device)
    return c.fail(FakeError::Device, "the program asserts device " +
                                         device->str() + ", the tensor is on " +
                                         a.device.str());
  return success();
}

/// Forms that return a token to order them by.
template <unsigned Token>
static LogicalResult withToken(FakeCall &c) {
  TensorMeta out = c.tensor(Token);
  return c.view(std::move(out), Token);
}

static LogicalResult checkErrors(FakeCall &c) {
  if (c.tensor(0).dtype != DType::I32)
    return c.fail(FakeError::Dtype, "the info of a factorisation must be "
                                    "int32, not " +
                                        dtypeName(c.tensor(0).dtype));
  if (!isContiguous(c.tensor(0)))
    return c.fail(FakeError::Other, "the info of a factorisation must be "
                                    "contiguous, not " +
                                        c.show(c.tensor(0)));
  return success();
}

ArrayRef<FakeRuleRow> assertionRules() {
  static const FakeRuleRow rows[] = {
      {"_assert_async.default", atRunTime},
      {"_assert_async.msg", atRunTime},
      {"_assert_scalar.default", assertScalar},
      {"_assert_tensor_metadata.default", tensorMetadata},
      {"_functional_assert_async.msg", withToken<2>},
      {"_functional_assert_scalar.default", withToken<2>},
      {"_functional_sym_constrain_range.default", withToken<3>},
      {"_functional_sym_constrain_range_for_size.default", withToken<3>},
      {"_linalg_check_errors.default", checkErrors},
      {"_print.default", atRunTime},
      {"sym_constrain_range.default", constrainRange<false>},
      {"sym_constrain_range_for_size.default", constrainRange<true>},
  };
  return rows;
}

} // namespace ft
