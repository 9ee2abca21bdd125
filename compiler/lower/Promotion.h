//===- Promotion.h - The dtype that mixed operands meet in -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_LOWER_PROMOTION_H
#define FORETRACE_COMPILER_LOWER_PROMOTION_H

#include "dialects/ft/DType.h"

#include <optional>

namespace ft {

/// The join of two dtypes in ATen's lattice: u8 + i8 = i16, f16 + bf16 = f32,
/// any integer + f16 = f16, f64 + c64 = c128.
DType joinDTypes(DType a, DType b);

/// Collects the operands of one call. Three classes rank: tensors with dims,
/// 0-dim tensors, plain numbers; a lower class counts only if its category
/// (bool < integer < float < complex) is above that of the classes over it.
///
///   i32[2] and 2.5 → f32    u8[2] and i64[] → u8    f16[2] and f64[] → f16
class Promotion {
public:
  void addTensor(DType dtype, bool zeroDim);
  /// A number counts by its category alone: i64, f32, c64 or bool.
  void addNumber(DType dtype);
  DType result() const;

private:
  std::optional<DType> classes[3];
  void add(unsigned rank, DType dtype);
};

} // namespace ft

#endif // FORETRACE_COMPILER_LOWER_PROMOTION_H
