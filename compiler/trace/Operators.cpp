//===- Operators.cpp - C++'s operators on tensors --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace/Operators.h"

#include "foretrace/trace/Ops.h"

#include "compiler/trace/OpArg.h"

namespace ft {

using detail::callNamedTensor;
using detail::OpArg;

// A number for `other` stays one, as in exported programs.

static Tensor withNumber(const char *overload, const Operand &a,
                         const Scalar &b) {
  const OpArg args[] = {OpArg(a.tensor), OpArg(b)};
  return callNamedTensor(overload, args, 2, a.here);
}

// a + alpha * b
static Tensor sumWithNumber(const char *overload, const Operand &a,
                            const Scalar &b) {
  const Scalar alpha(1);
  const OpArg args[] = {OpArg(a.tensor), OpArg(b), OpArg(alpha)};
  return callNamedTensor(overload, args, 3, a.here);
}

Tensor operator+(const Operand &a, const Operand &b) {
  return ops::add(a.tensor, b.tensor, 1, a.here);
}
Tensor operator+(const Operand &a, const Scalar &b) {
  return sumWithNumber("add.Tensor", a, b);
}
Tensor operator+(const Scalar &a, const Operand &b) {
  return sumWithNumber("add.Tensor", b, a);
}
Tensor operator-(const Operand &a, const Operand &b) {
  return ops::sub(a.tensor, b.tensor, 1, a.here);
}
Tensor operator-(const Operand &a, const Scalar &b) {
  return sumWithNumber("sub.Tensor", a, b);
}
Tensor operator-(const Scalar &a, const Operand &b) {
  return sumWithNumber("rsub.Scalar", b, a);
}
Tensor operator*(const Operand &a, const Operand &b) {
  return ops::mul(a.tensor, b.tensor, a.here);
}
Tensor operator*(const Operand &a, const Scalar &b) {
  return withNumber("mul.Tensor", a, b);
}
Tensor operator*(const Scalar &a, const Operand &b) {
  return withNumber("mul.Tensor", b, a);
}
Tensor operator/(const Operand &a, const Operand &b) {
  return ops::div(a.tensor, b.tensor, a.here);
}
Tensor operator/(const Operand &a, const Scalar &b) {
  return withNumber("div.Tensor", a, b);
}
Tensor operator/(const Scalar &a, const Operand &b) {
  Tensor inverse = ops::reciprocal(b.tensor, b.here);
  return Operand(inverse, b.here.file, b.here.line) * a;
}

#define FT_COMPARE(symbol, name, mirrored)                                     \
  Tensor operator symbol(const Operand &a, const Operand &b) {                 \
    return ops::name(a.tensor, b.tensor, a.here);                              \
  }                                                                            \
  Tensor operator symbol(const Operand &a, const Scalar &b) {                  \
    return ops::name(a.tensor, b, a.here);                                     \
  }                                                                            \
  Tensor operator symbol(const Scalar &a, const Operand &b) {                  \
    return ops::mirrored(b.tensor, a, b.here);                                 \
  }
FT_COMPARE(==, eq, eq)
FT_COMPARE(!=, ne, ne)
FT_COMPARE(<, lt, gt)
FT_COMPARE(<=, le, ge)
FT_COMPARE(>, gt, lt)
FT_COMPARE(>=, ge, le)
#undef FT_COMPARE

Tensor operator&(const Operand &a, const Operand &b) {
  return ops::bitwise_and(a.tensor, b.tensor, a.here);
}
Tensor operator|(const Operand &a, const Operand &b) {
  return ops::bitwise_or(a.tensor, b.tensor, a.here);
}
Tensor operator^(const Operand &a, const Operand &b) {
  return ops::bitwise_xor(a.tensor, b.tensor, a.here);
}
Tensor operator-(const Operand &a) { return ops::neg(a.tensor, a.here); }
Tensor operator~(const Operand &a) {
  return ops::bitwise_not(a.tensor, a.here);
}

} // namespace ft
