//===- Promotion.cpp - The dtype that mixed operands meet in --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/Promotion.h"

#include <algorithm>

namespace ft {

static DType joinIntegers(DType a, DType b) {
  if (isUnsigned(a) == isUnsigned(b))
    return dtypeBytes(a) >= dtypeBytes(b) ? a : b;
  DType u = isUnsigned(a) ? a : b, s = isUnsigned(a) ? b : a;
  if (dtypeBytes(s) > dtypeBytes(u))
    return s;
  // The next wider signed type; there is none above 64 bits.
  switch (dtypeBytes(u)) {
  case 1:
    return DType::I16;
  case 2:
    return DType::I32;
  default:
    return DType::I64;
  }
}

/// The float type of a complex type's parts; floats are their own.
static DType realPart(DType d) {
  switch (d) {
  case DType::C32:
    return DType::F16;
  case DType::C64:
    return DType::F32;
  case DType::C128:
    return DType::F64;
  default:
    return d;
  }
}

static DType joinFloats(DType a, DType b) {
  if (dtypeBytes(a) == dtypeBytes(b))
    return DType::F32; // f16 with bf16
  return dtypeBytes(a) > dtypeBytes(b) ? a : b;
}

DType joinDTypes(DType a, DType b) {
  if (a == b)
    return a;
  DTypeCategory ca = dtypeCategory(a), cb = dtypeCategory(b);
  if (ca > cb)
    return joinDTypes(b, a);
  if (cb == DTypeCategory::Integer && ca == DTypeCategory::Integer)
    return joinIntegers(a, b);
  if (cb == DTypeCategory::Floating && ca == DTypeCategory::Floating)
    return joinFloats(a, b);
  if (cb != DTypeCategory::Complex || ca < DTypeCategory::Floating)
    return b;
  DType ra = realPart(a), rb = realPart(b);
  DType real = ra == rb ? ra : joinFloats(ra, rb);
  return real == DType::F64   ? DType::C128
         : real == DType::F32 ? DType::C64
                              : DType::C32;
}

void Promotion::add(unsigned rank, DType dtype) {
  classes[rank] = classes[rank] ? joinDTypes(*classes[rank], dtype) : dtype;
}

void Promotion::addTensor(DType dtype, bool zeroDim) {
  add(zeroDim ? 1 : 0, dtype);
}

void Promotion::addNumber(DType dtype) { add(2, dtype); }

DType Promotion::result() const {
  std::optional<DType> result;
  for (const std::optional<DType> &c : classes) {
    if (!c)
      continue;
    if (!result)
      result = c;
    else if (dtypeCategory(*c) > dtypeCategory(*result))
      // A complex number over a float tensor keeps the float's precision.
      result = &c == &classes[2] && isComplex(*c) && isFloating(*result)
                   ? joinDTypes(DType::C32, *result)
                   : joinDTypes(*result, *c);
  }
  return result.value_or(DType::F32);
}

} // namespace ft
