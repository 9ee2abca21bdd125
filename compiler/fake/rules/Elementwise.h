//===- Elementwise.h - What elementwise rules share ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_FAKE_RULES_ELEMENTWISE_H
#define FORETRACE_COMPILER_FAKE_RULES_ELEMENTWISE_H

#include "compiler/fake/FakeCall.h"
#include "compiler/fake/StrideRules.h"
#include "dialects/ft/Promotion.h"

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

} // namespace ft

#endif // FORETRACE_COMPILER_FAKE_RULES_ELEMENTWISE_H
