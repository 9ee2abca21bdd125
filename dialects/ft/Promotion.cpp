//===- Promotion.cpp - The dtype that mixed operands compute in *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/Promotion.h"

namespace ft {

static bool isFloat8(DType d) { return isFloating(d) && dtypeBytes(d) == 1; }

/// Unsigned types that PyTorch has for storage only, not in its lattice.
static bool isStorageUnsigned(DType d) {
  return d == DType::U16 || d == DType::U32 || d == DType::U64;
}

DType toComplex(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return DType::C32;
  case DType::F64:
    return DType::C128;
  case DType::F32:
  case DType::BF16:
    return DType::C64;
  default:
    return dtype;
  }
}

DType toReal(DType dtype) {
  switch (dtype) {
  case DType::C32:
    return DType::F16;
  case DType::C64:
    return DType::F32;
  case DType::C128:
    return DType::F64;
  default:
    return dtype;
  }
}

static DType larger(DType a, DType b) {
  return dtypeBytes(a) >= dtypeBytes(b) ? a : b;
}

std::optional<DType> promoteTypes(DType a, DType b) {
  if (a == b)
    return a;
  if (isFloat8(a) || isFloat8(b))
    return std::nullopt;
  // From here on `b` is of the higher category.
  if (dtypeCategory(a) > dtypeCategory(b))
    std::swap(a, b);
  DTypeCategory low = dtypeCategory(a), high = dtypeCategory(b);
  if (low != high) {
    if (high == DTypeCategory::Complex && low == DTypeCategory::Floating)
      return larger(b, toComplex(a));
    return b;
  }
  if (high == DTypeCategory::Integer) {
    if (isStorageUnsigned(a) || isStorageUnsigned(b))
      return std::nullopt;
    // The one pair in which neither holds the other.
    if (dtypeBytes(a) == 1 && dtypeBytes(b) == 1)
      return DType::I16;
    return larger(a, b);
  }
  if (high == DTypeCategory::Floating && dtypeBytes(a) == 2 &&
      dtypeBytes(b) == 2)
    return DType::F32;
  return larger(a, b);
}

void TypePromotion::join(Class which, DType dtype) {
  std::optional<DType> &have = classes[which];
  if (!have) {
    have = dtype;
    return;
  }
  std::optional<DType> joined = promoteTypes(*have, dtype);
  if (!joined)
    clash = {*have, dtype};
  else
    have = joined;
}

void TypePromotion::add(const Arg &number) {
  switch (number.kind) {
  case Arg::Bool:
    return join(Number, DType::Bool);
  case Arg::Int:
    return join(Number, DType::I64);
  case Arg::Float:
    return join(Number, kDefaultFloat);
  case Arg::Complex:
    return join(Number, toComplex(kDefaultFloat));
  default:
    return;
  }
}

/// Adds what a lower class says to what the higher ones say.
static std::optional<DType>
combine(std::optional<DType> high, std::optional<DType> low,
        std::optional<std::pair<DType, DType>> &clash) {
  if (!high || !low)
    return high ? high : low;
  if (isComplex(*high))
    return high;
  if (isFloating(*high))
    return isComplex(*low) ? toComplex(*high) : *high;
  if (*high == DType::Bool || isFloating(*low) || isComplex(*low)) {
    std::optional<DType> joined = promoteTypes(*high, *low);
    if (!joined)
      clash = {*high, *low};
    return joined;
  }
  return high;
}

std::optional<DType> TypePromotion::result() const {
  std::optional<std::pair<DType, DType>> ignored;
  if (clash)
    return std::nullopt;
  return combine(classes[Dimmed],
                 combine(classes[Zero], classes[Number], ignored), ignored);
}

} // namespace ft
