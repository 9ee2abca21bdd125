//===- Promotion.h - The dtype that mixed operands compute in --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's rules. Operands fall into three classes: tensors with dims, 0-dim
// tensors, numbers. A lower class counts only if its category (bool < integer <
// floating < complex) is above that of the classes before it, and then
//
//   int32 [2] + float16 []   → float16     (a 0-dim tensor brings its dtype)
//   uint8 [2] + int64 []     → uint8       (same category: does not count)
//   int32 [2] * 1.5          → float32     (a number brings the default dtype)
//   float16 [2] * 1j         → complex32   (complex keeps a float's precision)

#ifndef FORETRACE_DIALECTS_FT_PROMOTION_H
#define FORETRACE_DIALECTS_FT_PROMOTION_H

#include "dialects/ft/Arg.h"
#include "dialects/ft/TensorMeta.h"

namespace ft {

/// The dtype of `1.5`: PyTorch's default dtype.
inline constexpr DType kDefaultFloat = DType::F32;

/// The smallest dtype that holds both; nothing where PyTorch refuses (8-bit
/// floats with anything else; uint16/32/64 with other integers).
std::optional<DType> promoteTypes(DType a, DType b);

/// float32 → complex64; other categories are returned unchanged.
DType toComplex(DType dtype);
/// complex64 → float32; others are returned unchanged.
DType toReal(DType dtype);
/// What integers become in ops that compute in floating point.
inline DType toFloat(DType dtype) {
  return isIntegral(dtype) ? kDefaultFloat : dtype;
}
/// An int64 for integers and bool (sums), others unchanged.
inline DType integralToLong(DType dtype) {
  return isIntegral(dtype) ? DType::I64 : dtype;
}
/// Whether a result of `from` may be written into a tensor of `to`: not down in
/// category (an integer accepts no float).
inline bool canCast(DType from, DType to) {
  DTypeCategory f = dtypeCategory(from), t = dtypeCategory(to);
  return f <= t || f == DTypeCategory::Bool;
}

/// Collects the operands of one call.
class TypePromotion {
public:
  void add(const TensorMeta &tensor) {
    add(tensor.dtype, tensor.sizes.empty());
  }
  /// A tensor of this dtype, with or without dims.
  void add(DType dtype, bool zeroDim) { join(zeroDim ? Zero : Dimmed, dtype); }
  /// Numbers only; anything else is ignored.
  void add(const Arg &number);
  /// Nothing if two of the operands do not promote, see `clash`.
  std::optional<DType> result() const;
  /// The two dtypes that do not promote.
  std::optional<std::pair<DType, DType>> clash;

private:
  enum Class { Dimmed, Zero, Number };
  void join(Class which, DType dtype);
  std::optional<DType> classes[3];
};

} // namespace ft

#endif // FORETRACE_DIALECTS_FT_PROMOTION_H
