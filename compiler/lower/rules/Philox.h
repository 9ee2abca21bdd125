//===- Philox.h - Random numbers in generated code -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox-4x32-10 (runtime/kernels/philox.h) as straight-line code: an element
// of a random tensor is a function of the instance's seed, of an offset that
// each operator gets at run time, and of the element's logical position. So a
// random operator is fused and parallelised like any pointwise one, and its
// numbers do not depend on how.

#ifndef FORETRACE_COMPILER_LOWER_RULES_PHILOX_H
#define FORETRACE_COMPILER_LOWER_RULES_PHILOX_H

#include "compiler/lower/LowerCall.h"

#include <array>

namespace ft {

/// The 128 random bits of one element, and numbers made from them. Each method
/// reads the bits anew: an element draws from one of them, once.
class RandomBits : public ScalarBuilder {
public:
  RandomBits(ScalarBuilder &s, mlir::Value seed, mlir::Value offset,
             mlir::Value element);

  /// [0, 1) in opmathType(dtype), with as many digits as `dtype` has, so that
  /// rounding to it cannot give 1. `second` takes the other half of the bits.
  mlir::Value uniform(DType dtype, bool second = false);
  /// (0, 1), both ends excluded, in float64.
  mlir::Value open();
  /// Normal numbers, in opmathType(dtype): two independent ones.
  std::array<mlir::Value, 2> normal(DType dtype);
  /// True with probability p: a number, or a float64 value.
  mlir::Value chance(double p);
  mlir::Value chance(mlir::Value p);
  /// An i64 in [0, range); a range of 0 stands for 2^64.
  mlir::Value below(uint64_t range);
  mlir::Value below(mlir::Value range);

private:
  std::array<mlir::Value, 4> words;

  /// 64 of the bits.
  mlir::Value wide(bool second);
};

/// A tensor whose elements are drawn; operands are broadcast as in pointwise.
/// The body gets compute values and returns one of `dtype`.
LoweredTensor
draw(LowerCall &c, llvm::ArrayRef<LoweredTensor> ins, const SizeList &sizes,
     DType dtype,
     llvm::function_ref<mlir::Value(RandomBits &, mlir::ValueRange)> body);

/// A seed and an offset that no other draw gets: int64 [2]. Two of these are
/// never one.
LoweredTensor drawKey(LowerCall &c);

/// What draw and callRandomKernel draw from: the argument `key` of operators
/// that have one, which are functions of it; a new key otherwise.
LoweredTensor keyOf(LowerCall &c);

/// Calls a kernel that draws numbers itself: its first argument is the key.
llvm::SmallVector<LoweredTensor>
callRandomKernel(LowerCall &c, llvm::StringRef name,
                 llvm::ArrayRef<LoweredTensor> ins, llvm::ArrayRef<Arg> numbers,
                 const SizeList &sizes, DType dtype, Dim scratchBytes);

/// The rules of Dropout.cpp.
llvm::ArrayRef<LowerRuleRow> dropoutLowerRules();

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_RULES_PHILOX_H
