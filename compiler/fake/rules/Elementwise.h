//===- Elementwise.h - What elementwise rules share ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_RULES_ELEMENTWISE_H
#define FORETRACE_COMPILER_FAKE_RULES_ELEMENTWISE_H

#include "compiler/fake/FakeCall.h"
#include "compiler/fake/StrideRules.h"
#include "dialects/ft/Promotion.h"

#include <cmath>

namespace ft {

/// What becomes of the promoted dtype.
enum class Promote : uint8_t {
  Default,
  /// Integers compute in the default float dtype: sin, true division.
  IntToFloat,
  /// Comparisons and predicates.
  AlwaysBool,
  /// abs and angle-like: complex64 → float32.
  ComplexToFloat,
  /// bool computes in int64: pow.
  BoolToLong
};

/// What a kernel does not take.
enum class Takes : uint8_t {
  Any,
  NoBool,
  NoComplex,
  NoBoolNoComplex,
  Integral,
  IntegerNoBool,
  Floating,
  FloatingOrComplex
};

/// Refuses a call whose dtypes, as `types` has seen them, have no common one.
llvm::LogicalResult noCommonDType(FakeCall &call, const TypePromotion &types);

/// add, sub: the scale `alpha` of the second operand must fit the result's
/// dtype.
llvm::LogicalResult checkScale(FakeCall &call, const Arg &alpha, DType result);

/// The promoted dtype of the arguments in `typed` (bit i: argument i; tensors
/// and numbers).
llvm::FailureOr<DType> promotedDType(FakeCall &call, uint32_t typed);

DType promoted(DType dtype, Promote kind);

llvm::LogicalResult checkTakes(FakeCall &call, DType dtype, Takes takes);

/// The result of an elementwise op over `tensors`, as `dtype`.
llvm::LogicalResult elementwise(FakeCall &call,
                                llvm::ArrayRef<const TensorMeta *> tensors,
                                DType dtype);

/// The tensor arguments of the call except written `out` ones.
llvm::SmallVector<const TensorMeta *, 4> elementwiseTensors(FakeCall &call);

/// The rule of an op that works element by element on all of its tensors.
/// `Typed`: the arguments that take part in type promotion, 0 for all tensors
/// (and numbers that stand for tensors).
template <Promote Kind, uint32_t Typed = 0, Takes What = Takes::Any>
llvm::LogicalResult pointwise(FakeCall &call) {
  llvm::FailureOr<DType> dtype = promotedDType(call, Typed);
  if (failed(dtype) || failed(checkTakes(call, *dtype, What)))
    return llvm::failure();
  return elementwise(call, elementwiseTensors(call), promoted(*dtype, Kind));
}

/// Fails unless both tensors have the same dtype: for operators that promote
/// nothing.
llvm::LogicalResult oneDType(FakeCall &c, const TensorMeta &a,
                             const TensorMeta &b);

/// A matrix norm of a negative order takes the least of something over `dims`,
/// the rows' and the columns': sums of columns for -1, sums of rows for -inf,
/// singular values for -2. Of none of them it has no value.
inline llvm::LogicalResult needsLeast(FakeCall &c, llvm::ArrayRef<int64_t> dims,
                                      double order) {
  const TensorMeta &self = c.tensor(0);
  for (unsigned k : {0U, 1U}) {
    bool counts = order == -2 || order == (k ? -1 : -HUGE_VAL);
    if (counts && c.isEmpty(self.sizes[dims[k]]))
      return c.fail(FakeError::Dim, c.schema().base +
                                        " of a negative order has no value "
                                        "over dim " +
                                        llvm::Twine(dims[k]) + " of size 0");
  }
  return llvm::success();
}

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_ELEMENTWISE_H
